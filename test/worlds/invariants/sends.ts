import type { Mark } from "../ledger.ts";
import type { Universe } from "../universe.ts";

const HOUR = 3_600_000;

/** Waits after each attempt that a mail server has put off, as docs/emails.md says them. */
export const WAITS_MS = [HOUR / 60, HOUR / 12, HOUR / 4, HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, 16 * HOUR] as const;

/** A mail that has left for an address. */
export interface Send {
  readonly emailId: string | null;
  readonly workspaceId: string;
  readonly to: string;
  /** Time by the clock of the world, ms. */
  readonly at: number;
  isAfter(mark: Mark): boolean;
  isBefore(mark: Mark): boolean;
}

/**
 * All mails that have left, also in vain: as the mail server saw them, in the order of everything that happened. Mail that is captured is
 * seen by nobody, so it is known by the time that the service tells.
 */
export async function listSends({ ledger, peer, world }: Universe): Promise<readonly Send[]> {
  if (peer) {
    return ledger.handOvers.map(({ order, at, emailId, workspaceId, to }) => ({
      ...{ emailId, workspaceId, to, at },
      isAfter: (mark) => mark.order < order,
      isBefore: (mark) => order < mark.order,
    }));
  }
  const { read } = world.app.deps.db;
  return (await read.select().from(read.t.emails)).flatMap(({ id, mailId, workspaceId, toKey, sentAt }) =>
    sentAt === null
      ? []
      : {
          ...{ emailId: mailId ?? id, workspaceId, to: toKey, at: sentAt },
          isAfter: (mark: Mark) => mark.at < sentAt,
          isBefore: (mark: Mark) => sentAt < mark.at,
        },
  );
}
