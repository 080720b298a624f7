"""What `zodiac --log-level` shows of the loggers of the package."""

from __future__ import annotations

import enum


class LogLevel(enum.StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"


def log_to_stderr(level: LogLevel) -> None:
    """Let the loggers of the package write to standard error, from a level on."""
    import logging  # late, because `zodiac --help` must be quick

    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("zodiac_sql")
    logger.addHandler(handler)
    logger.setLevel(level.upper())
