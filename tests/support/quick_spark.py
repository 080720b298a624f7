"""Settings for Spark sessions that live for seconds and run many small queries.

No compiler, of Java or of Spark, is worth its time there: they need half the time.
"""

from __future__ import annotations

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

QUICK = {
    "spark__driver__extraJavaOptions": QUICK_JAVA,
    "spark__sql__codegen__wholeStage": "false",
    "spark__sql__codegen__factoryMode": "NO_CODEGEN",
    "spark__sql__shuffle__partitions": "2",
}
