/** Mail of a test, with its special wishes. */
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
  /** Returns the status of a mail, in the tool's own word, such as `delivered`; null while the tool does not know it. */
  find(n: number): Promise<string | null>;
  /** Moves the tool's clock by two hours; absent if it has none. */
  advance?(): Promise<void>;
  /** Kills its process. */
  kill(): Promise<void>;
  /** Starts it again on what it had kept, after it was killed. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Tool with which developers test their mail. */
export interface TestTool {
  readonly name: string;
  /** Accepted input: an API, or SMTP. */
  readonly takes: string;
  /** True if bounces and schedules can be requested. */
  readonly bounces: boolean;
  readonly schedules: boolean;
  start(): Promise<RunningTool>;
}
