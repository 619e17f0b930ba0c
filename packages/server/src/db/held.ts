import type { InferInsertModel } from "drizzle-orm";
import type { PgInsertBuilder, PgQueryResultHKT, PgTable } from "drizzle-orm/pg-core";

declare const held: unique symbol;

/**
 * The key of a row that this transaction holds: one that deletes the row at the same time collides with it on Postgres, and the later of
 * both runs again. SQLite has one writer, so nothing collides there.
 */
type Held<Key extends string | number, Noun extends string> = Key & { readonly [held]: Noun };

/** The id of a held contact, see `holdContacts`. */
export type HeldContactId = Held<string, "contact">;

/** The number of a held contact. */
export type HeldContactSeq = Held<number, "contact">;

/** The id of a held email, see `holdEmails`. */
export type HeldEmailId = Held<string, "email">;

/** A contact that this transaction holds. */
export interface HeldContact {
  readonly id: HeldContactId;
  readonly seq: HeldContactSeq;
}

/**
 * Takes a contact for held without a lock of its own. This is safe only if this transaction wrote its row, or a row that the deletion of
 * the contact writes too, such as its entry in an automation; say which at the call.
 */
export function assumeContactHeld<Contact extends { readonly id: string; readonly seq: number }>(contact: Contact): Contact & HeldContact {
  return contact as Contact & HeldContact;
}

/** Takes an email for held without a lock of its own. True only if this transaction inserted or changed its row. */
export function assumeEmailHeld(id: string): HeldEmailId {
  return id as HeldEmailId;
}

/** Columns that name a person's contact or an email to a person. Rows that have them are inserted while what they name is held. */
interface NamingColumns {
  readonly contactId: HeldContactId;
  readonly contactSeq: HeldContactSeq;
  readonly emailId: HeldEmailId;
}

type NamesNobody<Table extends PgTable> = [keyof InferInsertModel<Table> & keyof NamingColumns] extends [never] ? true : false;

/** A new row of a table. Columns that name a contact or an email take held ones only. */
export type NewRow<Table extends PgTable> =
  NamesNobody<Table> extends true
    ? InferInsertModel<Table>
    : {
        [Column in keyof InferInsertModel<Table>]: Column extends keyof NamingColumns
          ? NamingColumns[Column] | Extract<InferInsertModel<Table>[Column], null | undefined>
          : InferInsertModel<Table>[Column];
      };

type Insertion<Table extends PgTable> = PgInsertBuilder<Table, PgQueryResultHKT>;

/** Inserts rows into a table; into one that names people, only such as `NewRow` describes. */
export type InsertInto = <Table extends PgTable>(
  table: Table,
) => NamesNobody<Table> extends true
  ? Insertion<Table>
  : { values(rows: NewRow<Table> | NewRow<Table>[]): ReturnType<Insertion<Table>["values"]> };
