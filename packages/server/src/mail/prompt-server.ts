import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { SMTPConnection } from "smtp-server/lib/smtp-connection.js";
import { yieldToEventLoop } from "../lib/turn.ts";
import { KB } from "../lib/units.ts";

/** What ended: address and port of the other side. */
type OnClose = (connection: { readonly remoteAddress: string; readonly remotePort: number }) => void;

/**
 * smtp-server with five differences: it greets at once, where the library waits 0.1 s for clients that talk too early; a reply that brings
 * its own enhanced status code keeps it; a connection can be ended by the id of its session; a message that comes quickly is read in
 * several turns of the event loop; and EXPN is a command that it does not have, not one that it does not know.
 */
export class PromptServer extends SMTPServer {
  readonly #closed: OnClose;

  constructor(options: SMTPServerOptions, closed: OnClose) {
    super(options);
    this.#closed = closed;
    // Peers cut their connections as they like.
    this.on("error", () => {});
  }

  override connect(...[socket, options]: Parameters<SMTPServer["connect"]>): void {
    const connection = new PromptConnection(this, socket, options, this.#closed);
    this.connections.add(connection);
    connection.on("error", () => {});
    connection.init();
  }

  /** Ends one connection. */
  cut(sessionId: string, why: string): void {
    for (const connection of this.connections) if (connection.session.id === sessionId) connection.send(421, why, false);
  }

  /** Ends the connections without a message under way. */
  cutIdle(why: string): void {
    for (const connection of this.connections) if (!connection.session.envelope?.mailFrom) connection.send(421, why, false);
  }
}

// Node reads up to 2 MB of a socket in one turn, and where each line begins with a dot that takes 60 ms.
const PARSED_PER_TURN = 256 * KB;

type ConnectionParameters = ConstructorParameters<typeof SMTPConnection>;

class PromptConnection extends SMTPConnection {
  readonly #closed: OnClose;

  constructor(server: ConnectionParameters[0], socket: ConnectionParameters[1], options: ConnectionParameters[2], closed: OnClose) {
    super(server, socket, options);
    this.#closed = closed;
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
