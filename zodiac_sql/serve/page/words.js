// What can be completed in each language.

import { json } from "./server.js";
import { written } from "./show.js";

const SQL = `SELECT FROM WHERE GROUP BY ORDER LIMIT HAVING JOIN LEFT USING WITH UNION DISTINCT AS ON AND OR NOT
  IN IS NULL BETWEEN LIKE ILIKE CASE WHEN THEN ELSE END DESC ASC count sum avg min max median abs round
  date_trunc time_bucket strftime coalesce`.split(/\s+/);
const SPARQL = `SELECT DISTINCT WHERE FILTER OPTIONAL UNION MINUS BIND VALUES GROUP BY ORDER LIMIT OFFSET HAVING
  ASK CONSTRUCT DESCRIBE PREFIX EXISTS NOT IN AS COUNT SUM AVG MIN MAX SAMPLE STR LANG DATATYPE REGEX
  CONTAINS IF COALESCE ABS ROUND YEAR MONTH DAY`.split(/\s+/);
const RULES = ["AGGREGATE", "BIND", "COUNT", "DISTINCT", "WITH", "not", "and", ".decl", "@prefix"];

let predicates = [];

/** Ask for the predicates again: changes bring new ones. */
export async function learnWords() {
  predicates = (await json("predicates")).rows;
}

export function wordsOf(language, known) {
  const prefixes = Object.keys(known.prefixes).map((prefix) => [`${prefix}:`, "prefix"]);
  if (language === "sql") return [
    ...predicates.map((one) => [sqlName(one.sql_name), one.columns]),
    ...columns(), ...SQL.map((word) => [word, ""])];
  if (language === "sparql") return [
    ...predicates.map((one) => [written(one.predicate), one.columns]).filter(([text]) => !/^\w+$/.test(text)),
    ...prefixes, ...SPARQL.map((word) => [word, ""])];
  return [
    ...predicates.map((one) => [written(one.predicate), one.columns]),
    ...known.functions.map((name) => [name, "function"]),
    ...RULES.map((word) => [word, ""]), ...prefixes];
}

/** The names of columns, each once. */
function columns() {
  const names = predicates.flatMap((one) => one.columns.split(", ").map((column) => column.split(":")[0]));
  return [...new Set(names)].filter((name) => name.length > 1).map((name) => [name, "column"]);
}

const sqlName = (name) => (/^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`);
