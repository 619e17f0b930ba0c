/** What a mail of a test may be besides ordinary. */
export interface TestMail {
  /** Its number, which its subject names. */
  readonly n: number;
  /** Sent to the address that the tool documents for bounces. */
  readonly bounces?: true;
  /** Scheduled for an hour later. */
  readonly scheduled?: true;
}

/** A test inbox or double that runs. */
export interface RunningTool {
  pid(): number;
  send(mail: TestMail): Promise<void>;
  /** What the tool says of a mail, in its own word, such as `delivered`; null while it does not know it. */
  find(n: number): Promise<string | null>;
  /** Moves the tool's clock by two hours; absent if it has none. */
  advance?(): Promise<void>;
  /** Kills its process. */
  kill(): Promise<void>;
  /** Starts it again on what it had kept, after it was killed. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** What developers test their mail with. */
export interface TestTool {
  readonly name: string;
  /** What it takes: an API, or SMTP. */
  readonly takes: string;
  /** How bounces and schedules are asked for; false where they cannot be. */
  readonly bounces: boolean;
  readonly schedules: boolean;
  start(): Promise<RunningTool>;
}
