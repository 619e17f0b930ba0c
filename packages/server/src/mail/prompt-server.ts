import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from "smtp-server";
import { SMTPConnection } from "smtp-server/lib/smtp-connection.js";
import { yieldToEventLoop } from "../lib/turn.ts";
import { KB } from "../lib/units.ts";

/** Callback: a connection ended, with address and port of the other side. */
type OnClose = (connection: { readonly remoteAddress: string; readonly remotePort: number }) => void;

/** Decides about a step of a session for which smtp-server asks nobody. */
export type OnStep = (
  step: "ehlo" | "data",
  session: SMTPServerSession,
  done: (refused: (Error & { readonly responseCode?: number }) | null) => void,
) => void;

/**
 * smtp-server with nine differences: it greets at once, where the library waits 0.1 s for clients that talk too early; a reply that
 * brings its own enhanced status code keeps it; a connection can be ended by the id of its session; a message that comes quickly is read
 * in several turns of the event loop; EXPN is a command that it does not have, not one that it does not know; parameters of extensions
 * that it does not announce are refused; a quoted local part may hold a blank; connections have the address that a proxy named; and EHLO and DATA can be refused.
 */
export class PromptServer extends SMTPServer {
  readonly #closed: OnClose;
  readonly #onStep: OnStep | undefined;

  constructor(options: SMTPServerOptions, closed: OnClose, onStep?: OnStep) {
    super(options);
    this.#closed = closed;
    this.#onStep = onStep;
    // Peers cut their connections as they like.
    this.on("error", () => {});
  }

  override connect(...[socket, options]: Parameters<SMTPServer["connect"]>): void {
    const connection = new PromptConnection([this, socket, options], this.#closed, this.#onStep);
    this.connections.add(connection);
    connection.on("error", () => {});
    connection.init();
  }

  /** Hands on the address that a proxy named, also to connections that begin with TLS, which read theirs from the operating system. */
  override _handleProxy(...[socket, callback]: Parameters<SMTPServer["_handleProxy"]>): void {
    const { remoteAddress, remotePort } = socket;
    super._handleProxy(socket, (error, options) => callback(error, { ...options, remoteAddress, remotePort } as typeof options));
  }

  /** Ends one connection. */
  cut(sessionId: string, why: string): void {
    for (const connection of this.connections) if (connection.session.id === sessionId) connection.send(421, why, false);
  }

  /** Ends one connection without a reply. */
  drop(sessionId: string): void {
    for (const connection of this.connections) if (connection.session.id === sessionId) connection._socket.destroy();
  }

  /** Ends the connections without a message under way. */
  cutIdle(why: string): void {
    for (const connection of this.connections) if (!connection.session.envelope?.mailFrom) connection.send(421, why, false);
  }
}

// Node reads up to 2 MB of a socket in one turn, and where each line begins with a dot that takes 60 ms.
const PARSED_PER_TURN = 256 * KB;

// Parameters of MAIL: of SIZE, 8BITMIME, SMTPUTF8, and of AUTH, which says who wrote the message. RCPT has none.
const OF_MAIL: ReadonlySet<string> = new Set(["SIZE", "BODY", "SMTPUTF8", "AUTH"]);
const NONE: ReadonlySet<string> = new Set();
const IN_PLACE_OF_BLANK = "_\u00b7_";

type ConnectionParameters = ConstructorParameters<typeof SMTPConnection>;

class PromptConnection extends SMTPConnection {
  readonly #closed: OnClose;
  readonly #onStep: OnStep | undefined;

  constructor(parameters: ConnectionParameters, closed: OnClose, onStep: OnStep | undefined) {
    super(...parameters);
    this.#closed = closed;
    this.#onStep = onStep;
  }

  override init(): void {
    this._setListeners(() => this.connectionReady());
  }

  override _createParser(): ReturnType<SMTPConnection["_createParser"]> {
    const parser = super._createParser();
    const write = parser._write.bind(parser);
    let parsed = 0;
    parser._write = (chunk, encoding, next) => {
      parsed += chunk.length;
      if (parsed < PARSED_PER_TURN) return write(chunk, encoding, next);
      parsed = 0;
      write(chunk, encoding, (error) => void yieldToEventLoop().then(() => next(error)));
    };
    return parser;
  }

  override send(...[code, data, context]: Parameters<SMTPConnection["send"]>): void {
    const hasOwnCode = typeof data === "string" && /^[245]\.\d{1,3}\.\d{1,3} /.test(data);
    super.send(code, data, hasOwnCode ? false : context);
  }

  override handler_EHLO(command: Buffer, done: () => void): void {
    this.#ask("ehlo", done, () => super.handler_EHLO(command, done));
  }

  override handler_HELO(command: Buffer, done: () => void): void {
    this.#ask("ehlo", done, () => super.handler_HELO(command, done));
  }

  override handler_DATA(command: Buffer, done: () => void): void {
    const go = (): void => super.handler_DATA(command, done);
    if (this.session.envelope.rcptTo.length === 0) go();
    else this.#ask("data", done, go);
  }

  #ask(step: Parameters<OnStep>[0], done: () => void, go: () => void): void {
    if (!this.#onStep) {
      go();
      return;
    }
    this.#onStep(step, this.session, (refused) => {
      if (refused === null) {
        go();
        return;
      }
      this.send(refused.responseCode ?? 550, refused.message);
      done();
    });
  }

  override handler_MAIL(command: Buffer, done: () => void): void {
    if (!this.#refuseParameter("mail from", command, OF_MAIL, done)) super.handler_MAIL(command, done);
  }

  override handler_RCPT(command: Buffer, done: () => void): void {
    if (!this.#refuseParameter("rcpt to", command, NONE, done)) super.handler_RCPT(command, done);
  }

  /**
   * Refuses parameters of extensions that are not announced (RFC 5321 4.1.1.11): a client that asks for a report would believe it gets
   * one.
   */
  #refuseParameter(name: string, command: Buffer, known: ReadonlySet<string>, done: () => void): boolean {
    const parsed = this._parseAddressCommand(name, command);
    const unknown = parsed === false ? undefined : Object.keys(parsed.args || {}).find((key) => !known.has(key));
    if (unknown === undefined) return false;
    this.send(555, `5.5.4 The parameter ${unknown.replace(/[^\x21-\x7e]/g, "?").slice(0, 40)} is not known here`);
    done();
    return true;
  }

  /** The library cuts a command at its blanks, also one inside quotes: it gets another character in its place meanwhile. */
  override _parseAddressCommand(name: string, command: Buffer | string): ReturnType<SMTPConnection["_parseAddressCommand"]> {
    const text = command.toString();
    const quoted = /<"(?:[^"\\<>]|\\[^<>])*"@/.exec(text)?.[0];
    if (quoted === undefined || !quoted.includes(" ")) return super._parseAddressCommand(name, command);
    const parsed = super._parseAddressCommand(name, text.replace(quoted, quoted.replaceAll(" ", IN_PLACE_OF_BLANK)));
    return parsed === false ? parsed : { ...parsed, address: String(parsed.address).replaceAll(IN_PLACE_OF_BLANK, " ") };
  }

  /** RFC 5321 4.2.4: a command that is known but not implemented. */
  handler_EXPN(_command: Buffer, done: () => void): void {
    this.send(502, "5.5.1 There are no mailing lists to expand here");
    done();
  }

  override _onClose(): void {
    super._onClose();
    this.#closed(this);
  }
}
