import { CONTACT_TEXT_FIELDS, CONTACT_TEXTS, EXTERNAL_ID_ALIASES } from "../contract/facts.ts";
import { type CellValue, splitTags } from "./cells.ts";
import { normalizeName } from "./names.ts";

/** Description of a kind of file: its fields, the column names that files use for them, and the parsing of cells. */
export interface FileColumns {
  fields: readonly string[];
  /** Maps column names, as `normalizeName` spells them, to fields. */
  aliases: Readonly<Record<string, string>>;
  /** Columns of an export that are read-only. */
  readOnly: ReadonlySet<string>;
  /** True if unknown columns can become custom fields. */
  custom: boolean;
  /** True if columns can hold consent or refusal. */
  consent: boolean;
  /** Converts the text of a cell to the value of a field; fields without an entry take the text. */
  cells: Readonly<Record<string, (cell: string) => CellValue>>;
}

// Names of the column with the address, in twelve languages.
const EMAIL = toAliases("email", [
  "email",
  "emailaddress",
  "emailaddr",
  "mail",
  "mailaddress",
  "contactemail",
  "subscriberemail",
  "primaryemail",
  "recipient",
  "email1value",
  "email1",
  "emailid",
  "useremail",
  "customeremail",
  "personalemail",
  "workemail",
  "emailadresse",
  "mailadresse",
  "adresseemail",
  "adressemail",
  "adressedemessagerie",
  "courriel",
  "adressecourriel",
  "correo",
  "correoelectronico",
  "direcciondecorreo",
  "direcciondecorreoelectronico",
  "direccionemail",
  "indirizzoemail",
  "indirizzodipostaelettronica",
  "postaelettronica",
  "enderecoemail",
  "enderecodeemail",
  "enderecodecorreioeletronico",
  "correioeletronico",
  "emailadres",
  "mailadres",
  "adresemail",
  "adrespocztyelektronicznej",
  "adresemailowy",
  "epost",
  "epostadress",
  "epostadresse",
  "mejl",
  "mejladress",
  "メールアドレス",
  "メール",
  "eメール",
  "電子メール",
  "電子メールアドレス",
  "почта",
  "электроннаяпочта",
  "адресэлектроннойпочты",
  "элпочта",
  "емеил",
  "имеил",
]);
const TEXT_ALIASES = Object.assign(
  {},
  ...CONTACT_TEXT_FIELDS.map((field) => toAliases(field, [field, ...CONTACT_TEXTS[field].aliases])),
) as Readonly<Record<string, string>>;

export const CONTACT_COLUMNS: FileColumns = {
  fields: ["email", "externalId", ...CONTACT_TEXT_FIELDS, "tags", "status"],
  aliases: {
    ...EMAIL,
    ...toAliases("externalId", EXTERNAL_ID_ALIASES),
    ...TEXT_ALIASES,
    ...toAliases("tags", ["tags", "tag", "labels", "label", "groupmembership"]),
  },
  readOnly: new Set(["id", "createdAt", "updatedAt", "lists", "segments"]),
  custom: true,
  consent: true,
  cells: { tags: (cell) => ({ value: splitTags(cell) }) },
};

export const SUPPRESSION_COLUMNS: FileColumns = {
  fields: ["email", "reason", "scope", "note"],
  aliases: { ...EMAIL, reason: "reason", type: "reason", scope: "scope", note: "note", comment: "note" },
  readOnly: new Set(["id", "source", "emailId", "createdAt", "updatedAt"]),
  custom: false,
  consent: false,
  cells: { reason: toLowerCase, scope: toLowerCase },
};

function toAliases(field: string, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [normalizeName(name), field]));
}

function toLowerCase(cell: string): CellValue {
  return { value: cell.trim().toLowerCase() };
}
