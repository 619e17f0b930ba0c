/** Endpoint at which a stack takes mail. */
export type Entrance =
  | { readonly kind: "http"; readonly port: number; readonly path: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly kind: "smtp"; readonly port: number };

/** A stack that runs: programs that together take mail, keep it, and hand it to the next mail server. */
export interface RunningStack {
  readonly entrance: Entrance;
  /** Its processes, the database's among them. */
  pids(): readonly number[];
  /** Processor time that they have used, µs, if their parents do not know it: of processes that were left behind. */
  cpu?(): number;
  /** Kills all of its processes at once. */
  kill(): Promise<void>;
  /** Starts it again on what it had kept, at the same entrance. */
  restart(): Promise<void>;
  /** The mails that it says may have come twice, by their numbers. */
  listInDoubt(): Promise<readonly number[]>;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
}

/** Stack to compare. */
export interface Stack {
  readonly name: string;
  /** Moment at which a mail is on disk, in words. */
  readonly durability: string;
  /** Reason it cannot be run here; null when it can. */
  missing(): string | null;
  /** Starts it with an empty queue. It hands its mail to the mail server on `smtpPort`, over at most CONNECTIONS connections. */
  start(smtpPort: number): Promise<RunningStack>;
}

/** Connections of each stack to the next mail server. */
export const CONNECTIONS = 20;

/** The subject of a mail of the comparison, by its number. */
export function toSubject(n: number): string {
  return `Receipt ${n}`;
}

/** The number of a mail, by its subject; NaN for another mail. */
export function toNumber(subject: string): number {
  return Number(/^Receipt (\d+)$/.exec(subject.trim())?.[1] ?? Number.NaN);
}
