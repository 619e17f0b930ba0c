import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

const TXT = 16;
const IN = 1;
// An answer, recursion available, and the code for a name that there is not.
const ANSWER = 0x8180;
const NO_SUCH_NAME = 3;
const HEADER_BYTES = 12;
const TTL_S = 300;

/** A name server of this machine that knows some TXT records, and that there are no others. */
export class NameServer {
  readonly #socket: Socket = createSocket("udp4");
  readonly #records: Readonly<Record<string, string>>;

  static async start(records: Readonly<Record<string, string>>): Promise<NameServer> {
    const server = new NameServer(records);
    server.#socket.bind(53, "127.0.0.1");
    await once(server.#socket, "listening");
    return server;
  }

  private constructor(records: Readonly<Record<string, string>>) {
    this.#records = records;
    this.#socket.on("message", (query, peer) => this.#socket.send(this.#answer(query), peer.port, peer.address));
  }

  stop(): void {
    this.#socket.close();
  }

  /** Answers the one question of a query (RFC 1035, section 4). */
  #answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = HEADER_BYTES;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const question = query.subarray(HEADER_BYTES, at + 5);
    const text = query.readUInt16BE(at + 1) === TXT ? this.#records[labels.join(".").toLowerCase()] : undefined;
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(ANSWER | (text === undefined ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(text === undefined ? 0 : 1, 6);
    return Buffer.concat([header, question, ...(text === undefined ? [] : [toRecord(text)])]);
  }
}

/** A TXT record of the name in the question. */
function toRecord(text: string): Buffer {
  const pieces = (text.match(/.{1,255}/g) ?? []).map((piece) => Buffer.concat([Buffer.of(piece.length), Buffer.from(piece, "latin1")]));
  const data = Buffer.concat(pieces);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
  head.writeUInt16BE(TXT, 2);
  head.writeUInt16BE(IN, 4);
  head.writeUInt32BE(TTL_S, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}
