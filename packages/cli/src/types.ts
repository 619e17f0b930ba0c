import type { Readable, Writable } from "node:stream";
import type { Mailsvc } from "@mailsvc/sdk";
import type { Endpoint } from "@mailsvc/sdk/contract";
import type { IgnoredDevFile } from "./runtime/dev-server-file.ts";
import type { Exit } from "./runtime/exit.ts";
import type { Signal } from "./runtime/signals.ts";

/** A stream that may be a terminal. */
export type In = Readable & { isTTY?: boolean };
export type Out = Writable & { isTTY?: boolean; columns?: number };

/**
 * Everything the program takes from the machine it runs on. `main.ts` fills it from `process`; tests fill it by hand.
 * Nothing else in this package reads `process`, the clock or the network directly.
 */
export interface Host {
  /** Arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: In;
  readonly stdout: Out;
  readonly stderr: Out;
  readonly platform: NodeJS.Platform;
  readonly nodeVersion: string;
  readonly home: string;
  readonly cwd: string;
  /** Version of this package. */
  readonly version: string;
  /** Random bytes for a key. */
  randomBytes(size: number): Buffer;
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits `ms` of real time; ends early, without an error, when the signal fires. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `fire` on SIGINT and SIGTERM, unless a command of `exec` gets them; the returned function stops listening. */
  onSignal(fire: (signal: Signal) => void): () => void;
  /** Calls `fire` when the program that started this one has ended. Only for npm and what it runs, never for a shell. */
  onParentExit(fire: () => void): () => void;
  /** Ends the program after this time if something, such as a connection that hangs, still holds it. */
  exitAfter(ms: number): void;
  /** The user's numeric id; undefined on Windows. */
  readonly userId?: number | undefined;
  /** True if a process with this id exists. */
  isRunning(pid: number): boolean;
  /** Runs a command with our streams and these variables, passes signals on to it, and returns its exit code. Rejects if it cannot be started. */
  exec(argv: readonly string[], variables: Readonly<Record<string, string>>, stop: AbortSignal): Promise<number>;
  /** Starts a command line in a shell with these variables; `heard` gets its output line by line. */
  start(line: string, variables: Readonly<Record<string, string>>, heard: (line: string) => void): Promise<StartedCommand>;
  /** True if something accepts connections at this address. */
  listens(url: URL): Promise<boolean>;
  readonly fetch?: typeof globalThis.fetch;
}

/** A command that runs alongside this program. */
export interface StartedCommand {
  /** Resolves with its exit code when it and its output have ended: 128 + n when signal n ended it, 127 when it cannot be started. */
  readonly exited: Promise<number>;
  /** Sends a signal to it and to everything it started. */
  signal(name: "SIGTERM" | "SIGKILL"): void;
}

/** Paints text; every method returns its argument unchanged when colours are off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** The terminal, or the pipe in its place. */
export interface Terminal {
  readonly out: Style;
  readonly err: Style;
  /** Columns of stdout; 80 when unknown. */
  readonly columns: number;
  readonly stdoutTTY: boolean;
  readonly stderrTTY: boolean;
  /** True if the program may prompt. */
  readonly interactive: boolean;
}

/** One invalid value: its path in the request, and the flag it came from. */
export interface Fault {
  path: string;
  flag?: string;
  code: string;
  message: string;
}

/** A failed command as data: printed as text for people, as JSON for programs. */
export interface Failure {
  code: string;
  message: string;
  exit: Exit;
  status?: number;
  requestId?: string;
  details?: Fault[];
  hint?: string | undefined;
  /** The command to try next. */
  next?: string | undefined;
  retryable?: boolean;
  retryAfterMs?: number;
}

/** Returns the flag behind a path of the request (`to[3]`), or undefined when no flag sets it. */
export type FlagOf = (path: string) => string | undefined;

/** Output of a command: data to stdout, everything else to stderr. */
export interface Output {
  /** True when data is written as JSON: with --json or --jq, and whenever stdout is not a terminal. */
  readonly json: boolean;
  readonly term: Terminal;
  /** True once the expression of --jq did not fit a document, which was printed whole. */
  readonly hasUnfiltered: boolean;
  /** Compiles the expression of --jq, before anything is sent. Throws CliError. */
  ready(): Promise<void>;
  /** One document: JSON (one line in a pipe), or the text that `view` renders for people. */
  data(value: unknown, view: () => string): Promise<void>;
  /**
   * Begins a document with the fields of an object, so that they are printed even if the program is killed before the rest. The returned
   * function ends it with more fields; for people, `rest` renders what follows. With --jq, all is printed at the end.
   */
  begin(value: object, view: () => string): Promise<(more: object, rest: () => string) => Promise<void>>;
  /** One JSON document, on a terminal too. */
  document(value: unknown): Promise<void>;
  /** One line of a stream of JSON documents. */
  line(value: unknown): Promise<void>;
  /** Text as it is; on a terminal, control characters are removed. */
  text(text: string): Promise<void>;
  /** A file, byte by byte. */
  bytes(bytes: Uint8Array): Promise<void>;
  /** A remark on stderr that --quiet silences. The caller must make remote parts of `text` safe. */
  note(text: string): void;
  /** A line on stderr that --quiet does not silence. */
  say(text: string): void;
  /** Explains a failure on stderr: as text, or as one JSON line when `asJson`. */
  fail(failure: Failure, asJson: boolean): void;
}

/** A spinner. */
export interface Progress {
  /** Changes its label. */
  update(label: string): void;
  stop(): void;
}

/** Reads stdin and the files that flags name. Only one flag can read stdin. */
export interface InputReader {
  /** The bytes of a file, or of stdin for `-`; at most `max`, 64 MiB by default. Throws CliError that names the flag. */
  bytes(source: string, flag: string, max?: number): Promise<Buffer>;
  /** The same as text; throws CliError when the bytes are not UTF-8. */
  text(source: string, flag: string): Promise<string>;
  /** JSON given in place, as `@file`, or as `-` for stdin. */
  json(source: string, flag: string): Promise<unknown>;
}

/** A local file that goes with a request. */
export interface LocalFile {
  /** As given on the command line; `-` for stdin. */
  readonly path: string;
  readonly content: Buffer;
  readonly name: string;
  /** Content type; undefined when the file name does not tell. */
  readonly type: string | undefined;
}

/** One request as data: what is sent, and what --dry-run shows. */
export interface Call {
  method: string;
  /** Path with its parameters filled in. */
  path: string;
  query: Record<string, string | number | boolean>;
  body?: unknown;
  headers: Record<string, string>;
  /** False for public endpoints: the key is not sent to them. */
  withKey: boolean;
  /** The request needs the key of an activation, not a developer's key. */
  forAgent?: boolean;
  /** The request needs the operator key of the server. */
  forOperator?: boolean;
  /** Limit for the whole call in ms; --timeout by default. */
  timeoutMs?: number;
  /** Extra seconds the server may need to answer: without `timeoutMs`, the time limit is at least this. */
  waitSeconds?: number;
  /** Maximum number of retries within that time; the client's default otherwise. */
  retries?: number;
  /** A file sent with the body, as a multipart form. */
  file?: LocalFile;
  /** Ctrl-C does not abort this call: the work stops between two calls instead. */
  untilDone?: boolean;
}

/** The query and body of a request, as read from flags and arguments. */
export interface RequestInput {
  query: Record<string, unknown>;
  body: Record<string, unknown> | undefined;
}

/** A server's response. */
export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Parsed when it is JSON, text otherwise. */
  data: unknown;
  /** The body as received. */
  bytes: Uint8Array;
}

/** The flags every command understands, before or after its name. */
export interface Globals {
  json: boolean;
  /** A jq expression that filters every document. */
  jq?: string;
  url?: string;
  apiKey?: string;
  profile?: string;
  timeout?: string;
  quiet: boolean;
  verbose: boolean;
  yes: boolean;
  dryRun: boolean;
  idempotencyKey?: string;
}

/** Settings of a profile. */
export const SETTING_KEYS = ["url", "api-key", "timeout"] as const;
export type SettingKey = (typeof SETTING_KEYS)[number];
export type Profile = Partial<Record<SettingKey, string>>;

/** The config file: named profiles, one of them in use. */
export interface ConfigFile {
  profile: string;
  profiles: Record<string, Profile>;
}

/** The global flags that are settings. */
export type SettingFlags = Partial<Record<SettingKey | "profile", string>>;

/** Content of a running dev server's dev.json. */
export interface DevServerFile {
  path: string;
  url: string;
  apiKey: string;
  operatorKey: string | null;
  /** The brand's and the builder's keys. */
  profiles: Readonly<Record<string, { apiKey: string }>>;
  pid: number;
}

/** The settings a command runs with. */
export interface Settings {
  path: string;
  file: ConfigFile;
  profile: string;
  url: string;
  apiKey: string | undefined;
  timeoutMs: number;
  /** The key that manages workspaces, if known. */
  operatorKey: string | undefined;
  /** Set when the profile holds a key, but for another server than the one asked for. */
  keyWithheld: string | undefined;
  /** Files that name a dev server and are not believed. */
  ignoredDevFiles: readonly IgnoredDevFile[];
}

/** An endpoint with its place in the command tree. */
export interface CommandSpec {
  /** `emails.list`, or `agent.runs.list` for an endpoint that agents call with their own key. */
  id: string;
  endpoint: Endpoint;
  /** The words after `mailsvc`. */
  words: readonly string[];
  /** Fields that may be given as arguments, in order, with the value used when absent. */
  positional: readonly { field: string; fallback?: string }[];
  /** The field of which the command reads the values from a file, its only argument. */
  fromFile?: string;
  /** Body fields whose values follow from the command's name. */
  fixed?: Readonly<Record<string, unknown>>;
  /** The id of the spec whose command also covers this endpoint; there is no command of its own. */
  coveredBy?: string;
  /** The command is listed nowhere. */
  hidden?: boolean;
}

/** One run of one command: its surroundings, its settings and the way to the server. */
export interface Session {
  readonly host: Host;
  readonly term: Terminal;
  readonly out: Output;
  readonly globals: Globals;
  readonly input: InputReader;
  /** Fires on Ctrl-C. */
  readonly signal: AbortSignal;
  /** Maps a path in an error to a flag; set by commands that know their fields. */
  flagOf: FlagOf;
  /** The endpoint this command calls, if any, and the last request it sent. Advice on a failure is made from them. */
  spec: CommandSpec | undefined;
  lastCall: Call | undefined;
  /** True if a time of the request was counted from the server's clock, so that the same words make another request later. */
  usesClock: boolean;
  /** Resolved on first use, so that a command that needs none works with a broken config file. */
  settings(): Settings;
  settingFlags(): SettingFlags;
  /** Replaces the settings, for a login that tries a key before it stores it. */
  use(settings: Settings): void;
  /** Sends one request. Throws the SDK's errors, or CliError when a key is needed and none is set. */
  send(call: Call): Promise<Answer>;
  /** A client of the SDK, for what is no single request. Throws CliError when no key is set. */
  client(): Promise<Mailsvc>;
  /** Prints the request instead of sending it. */
  printDryRun(call: Call): Promise<void>;
  progress(label: string): Progress;
  /** The server's time in ms since 1970; in dev mode the clock may differ from the machine's. */
  serverNow(dev: boolean): Promise<number>;
}
