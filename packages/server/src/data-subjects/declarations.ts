import type { Person } from "@mailsvc/sdk/contract";
import type { ContactRow } from "../contacts/contacts.ts";
import type { Reader, Schema, Tx } from "../db/db.ts";
import type { EmailCopy } from "../emails/emails.ts";
import type { AnswerCopies } from "./copies.ts";
import type { DataSubjectDeps } from "./data-subjects.ts";

/** The person whose data is walked, by address in one workspace. */
interface Subject {
  readonly workspaceId: string;
  /** As `addressKey` returns it. */
  readonly address: string;
  readonly contact: ContactRow | null;
}

/** Lists that may be too long for one page of an export. */
export const PAGED = ["emails", "received"] as const;

/** Start of a page of an export: the id behind which each list continues. Lists that are absent have ended. */
export type ExportPosition = { readonly [List in (typeof PAGED)[number]]?: string };

/** A person whose data is exported. */
export interface ExportedSubject extends Subject {
  /** Null for the first page. */
  readonly position: ExportPosition | null;
}

/** Parts of an export, and where the next page of them begins. */
export type ExportedParts = Partial<Omit<Person, "nextCursor">> & { readonly next?: ExportPosition };

/** A person who is erased. */
export interface ErasedSubject extends Subject {
  readonly emails: readonly EmailCopy[];
  readonly answers: AnswerCopies;
}

/** Reads the parts of an export that a table contributes; an empty object if there is nothing. */
type Export = (read: Reader, subject: ExportedSubject, deps: DataSubjectDeps) => Promise<ExportedParts>;

/** Deletes or clears what is stored about a contact, in the transaction that deletes the contact. */
type ForgetContact = (tx: Tx, contact: ContactRow, deps: DataSubjectDeps) => Promise<void>;

/** Deletes or clears what is stored about a person. Returns the number of rows that named the person. */
type Erase = (tx: Tx, subject: ErasedSubject, deps: DataSubjectDeps) => Promise<number>;

/** The function of another table handles the rows of this one too. */
interface With {
  readonly with: keyof Schema;
}

interface Exported {
  /** Function that exports rows, or the reason they are not exported. */
  readonly export: Export | With | { readonly none: string };
  /** Reason that rows that name the person stay all the same. */
  readonly stays?: string;
}

/**
 * Declares the data of a person in a table. `Column` are the names of its columns.
 *
 * | declared             | the rows of a person                                        |
 * | -------------------- | ----------------------------------------------------------- |
 * | `nothing`            | none, with the reason if a column looks like it             |
 * | `contact`            | name the contact in that column, by its id or number        |
 * | `address`            | name the address in that column, or contain it              |
 * | `email`              | name an email in that column, or something an email caused  |
 *
 * `forget` says what happens to them when the contact is deleted, alone or with the person, and `erase` what happens only when the person
 * is erased: a function, `delete` for all of the rows (`email` then is the id of an email), or the table whose function does it.
 */
export type PersonData<Column extends string = string> =
  | "nothing"
  | { readonly nothing: string }
  | (Exported & { readonly contact: Column; readonly forget: ForgetContact | "delete" | With })
  | (Exported & { readonly contact: Column; readonly erase: Erase })
  | (Exported & { readonly address: Column; readonly erase: Erase })
  | (Exported & { readonly email: Column; readonly erase: Erase | "delete" | With });

/** Personal data in each table; a missing table does not compile. The walks go through the tables in the order of the record. */
export type PersonDataByTable = { readonly [Name in keyof Schema]: PersonData<keyof Schema[Name]["$inferSelect"] & string> };
