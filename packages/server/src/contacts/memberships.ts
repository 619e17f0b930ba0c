import type { ContactMembership } from "@mailsvc/sdk/contract";
import type { Reader, Tx } from "../db/db.ts";
import type { ContactRow } from "./store.ts";

/** What another feature keeps of contacts. All of them are listed in `features.ts`, so that none is forgotten. */
export interface ContactLinks {
  /** Which lists a contact is on. */
  lists?(q: Tx | Reader, contact: ContactRow): Promise<ContactMembership[]>;
  /** Which segments a contact is in at this instant (ms). */
  segments?(q: Tx | Reader, contact: ContactRow, now: number): Promise<ContactMembership[]>;
  /** Deletes what is kept of a contact, in the transaction that deletes it. */
  forget(tx: Tx, contact: ContactRow): Promise<void>;
}

/** The memberships of a contact, as the features tell them. */
export async function membershipsOf(
  q: Tx | Reader,
  contact: ContactRow,
  links: readonly ContactLinks[],
  now: number,
): Promise<{ lists: ContactMembership[]; segments: ContactMembership[] }> {
  const of = async (kind: "lists" | "segments") => (await Promise.all(links.map((link) => link[kind]?.(q, contact, now) ?? []))).flat();
  return { lists: await of("lists"), segments: await of("segments") };
}
