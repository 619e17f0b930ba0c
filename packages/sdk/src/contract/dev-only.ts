/** Answer of a production server about a noun that only dev mode has. */
interface DevOnly {
  /** Missing feature and the reason, as a sentence. */
  readonly message: string;
  /** Alternative, with its commands. */
  readonly hint: string;
  /** The command to try next. */
  readonly next: string;
}

/** The nouns with calls that exist in dev mode only (access `dev`), and what serves instead of each on a server in production. */
export const DEV_ONLY: Readonly<Record<string, DevOnly>> = {
  inbox: {
    message: "The inbox of captured mail exists in dev mode only: this server sends its mail.",
    hint: "Emails that were sent: mailsvc emails list. Captured mail of test keys: mailsvc test-inbox list. A server that captures all mail: mailsvc dev",
    next: "mailsvc emails list",
  },
  clock: {
    message: "The clock can be read and moved in dev mode only: this server goes by the time of its machine.",
    hint: "A server whose clock is yours: mailsvc dev. What waits for its time here: mailsvc jobs list",
    next: "mailsvc dev",
  },
  world: {
    message: "Resets and snapshots exist in dev mode only: they would replace all data of this server.",
    hint: "A copy of a server's data: mailsvc backup FILE, on its machine. A server to reset and restore: mailsvc dev",
    next: "mailsvc backup --help",
  },
  faults: {
    message: "Requests and SMTP can be made to fail in dev mode only.",
    hint: "A server with faults: mailsvc dev. Mail that bounces or fails without leaving this server: send to a simulated recipient with a test key",
    next: "mailsvc dev",
  },
};
