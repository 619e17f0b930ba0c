// Reads and writes files of contacts and suppressions, for the command line and the dashboard. The package does not export it: the
// command line bundles it, and the dashboard imports single files, so that a page loads no others. Nothing here needs the contract's
// schemas.
export {
  CELL_TYPES,
  type CellType,
  convertCell,
  DETECTABLE_TYPES,
  type DetectableType,
  escapeFormula,
} from "./cells.ts";
export {
  CONSENT_TARGETS,
  type ColumnMapping,
  type ColumnResolver,
  type ColumnTarget,
  createColumnResolver,
  findPosition,
  formatTarget,
  listShared,
  mapColumns,
  parseTarget,
} from "./columns.ts";
export { type CsvFlags, formatContact, formatHeader, listColumns } from "./contact-lines.ts";
export { type CsvRecord, formatLine, LineTooLongError, parseCsv, parseFirstRecord } from "./csv.ts";
export { guessEncodings, LEGACY_ENCODINGS, type LegacyEncoding } from "./encodings.ts";
export { CONTACT_COLUMNS, type FileColumns, SUPPRESSION_COLUMNS } from "./file-columns.ts";
export { formatCustomColumn } from "./names.ts";
export { type JsonRecord, parseNdjson } from "./ndjson.ts";
export { formatReject, formatRejectsHeader, type Reject } from "./reject-lines.ts";
export { type CellFlags, createObjectReader, createTableReader, type Row, type RowFault } from "./rows.ts";
export { detectSeparator, SEPARATOR_LINE } from "./separator.ts";
