import type { Readable } from "node:stream";
import { AddressError, type Mailbox, parseAnyMailbox, parseMailbox, SEND_LIMITS } from "@mailsvc/sdk/contract";
import type { SMTPServerAuthentication, SMTPServerSession } from "smtp-server";
import { ApiError } from "../lib/api-error.ts";
import type { Timer } from "../lib/clock.ts";
import { isLoopbackAddress } from "../lib/ip-network.ts";
import { HOUR, MB, MINUTE } from "../lib/units.ts";
import { Intake } from "../mail/intake.ts";
import { refuseByName } from "../mail/smtp-fault-injection.ts";
import { formatReply, type ListenerOptions, listenSmtp, reply, type SmtpDialogue, type SmtpListener } from "../mail/smtp-listener.ts";
import type { SubmissionAccess, SubmissionDeps, SubmissionReport, Submitter } from "./deps.ts";
import { PlannedFaults } from "./faults.ts";
import { MessageStore } from "./message-store.ts";
import { toReply } from "./replies.ts";

/** The memory of all messages that are being received. */
const MAX_MEMORY = 128 * MB;
const MAX_CONNECTIONS = 2000;
// Many programs share the address of one machine or network.
const MAX_OF_PEER = 500;
// Logins that fail in one connection, before it is cut.
const MAX_FAILED = 3;
const MAX_COMMAND_BYTES = 16 * 1024;
// RFC 5321 4.5.3.2.7 asks servers to wait for five minutes, and programs keep connections for as long.
const IDLE_MS = 5 * MINUTE;
const LOGIN_MS = MINUTE;
const CONNECTION_MS = HOUR;

/** Address and rules of a submission server. */
export interface SubmissionOptions extends Pick<ListenerOptions, "host" | "port" | "tls" | "implicitTls"> {
  /** True if logins are taken without TLS from other machines too. */
  readonly insecureAuth: boolean;
  /** Maximum time of a connection without a login, ms of real time; a minute when absent. */
  readonly loginMs?: number;
}

/**
 * Accepts mail to be sent over SMTP, as `emails.send` does over HTTP. A message is answered with 250 once it is durable, and with the id
 * of its mail. Throws the error of the operating system if it cannot listen.
 */
export async function serveSubmission(deps: SubmissionDeps, access: SubmissionAccess, options: SubmissionOptions): Promise<SmtpListener> {
  const { host, port, tls, implicitTls = false } = options;
  const faults = new PlannedFaults(deps.smtpFaults, (id) => listener.drop(id));
  const parts = { intake: new Intake(MAX_MEMORY), store: new MessageStore(deps), faults };
  const sessions = new Sessions(deps, access, options, (id, why) => listener.cut(id, why));
  const listener = await listenSmtp(deps, dialogue(deps, sessions, parts), {
    ...{ host, port, tls, implicitTls },
    ...{ connectionMs: CONNECTION_MS, connections: MAX_CONNECTIONS, ofPeer: MAX_OF_PEER, proxies: deps.config.proxyProtocol },
    purpose: "mail to be sent",
  });
  deps.submissionPorts.add(listener, implicitTls ? "implicit" : tls === null ? "none" : "starttls");
  return {
    ...listener,
    close: async () => {
      deps.submissionPorts.remove(listener);
      await listener.close();
    },
  };
}

/** Takes messages off their connections, and stores them. */
interface MessageHandling {
  readonly intake: Intake;
  readonly store: MessageStore;
  readonly faults: PlannedFaults;
}

function dialogue(deps: SubmissionDeps, sessions: Sessions, parts: MessageHandling): SmtpDialogue {
  const { config } = deps;
  const { faults } = parts;
  return {
    name: nameOf(config),
    banner: "mailsvc",
    // `Sessions` decides if a login is needed.
    authOptional: true,
    authMethods: ["PLAIN", "LOGIN"],
    allowInsecureAuth: true,
    hideENHANCEDSTATUSCODES: false,
    size: config.maxBodyBytes,
    maxCommandLength: MAX_COMMAND_BYTES,
    socketTimeout: IDLE_MS,
    onConnect: (session, done) => {
      sessions.open(session);
      faults.meet({ step: "connect", names: [], session }, (refused) => done(tell(deps, session, refused)));
    },
    ...(config.dev && {
      onStep: (step, session, done) => {
        const names = session.envelope.rcptTo.map(({ address }) => address);
        faults.meet({ step, names, session }, (refused) => done(tell(deps, session, refused)));
      },
    }),
    onSecure: (_socket, session, done) => {
      sessions.secured(session);
      done();
    },
    onAuth: (auth, session, done) => {
      faults.meet({ step: "auth", names: [auth.username ?? ""], session }, (refused) => {
        if (refused !== null) {
          done(tell(deps, session, refused));
          return;
        }
        sessions.logIn(auth, session).then(
          () => done(null, { user: auth.username || "key" }),
          (error: unknown) => done(tell(deps, session, sessions.failed(session, error))),
        );
      });
    },
    onMailFrom: ({ address }, session, done) => {
      sessions.beginMessage(session);
      faults.meet({ step: "mail", names: [address], session }, (refused) =>
        done(tell(deps, session, refused ?? sessions.refuseStranger(session), { from: address })),
      );
    },
    // Answered at once: commands that wait are read into memory that nothing limits. `receive` asks the database too.
    onRcptTo: ({ address }, session, done) => {
      faults.meet({ step: "rcpt", names: [address], session }, (planned) => {
        const refused = planned ?? refuseRecipient(address, session, config.dev && deps.relays.capturesAll);
        if (refused !== null) sessions.countRefused(session);
        done(tell(deps, session, refused, { to: [address] }));
      });
    },
    onData: (stream, session, done) => {
      faults
        .receive(stream, session, () => receive(deps, sessions, parts, stream, session))
        .then(
          (result) => {
            const answer = result instanceof Error ? result : reply(250, `2.0.0 queued as ${result}`);
            tell(deps, session, answer, { size: stream.byteLength });
            if (answer === result) done(answer);
            else done(null, answer.message);
          },
          (error: unknown) => done(tell(deps, session, sessions.refuse(error), { size: stream.byteLength })),
        );
    },
    onClose: (session, done) => {
      sessions.close(session);
      done();
    },
  };
}

/** Takes a message off its connection and stores it. Answers the id of the mail, or the reply that refuses it. */
async function receive(
  deps: SubmissionDeps,
  sessions: Sessions,
  { intake, store }: MessageHandling,
  stream: Readable & { sizeExceeded?: boolean },
  session: SMTPServerSession,
): Promise<string | Error> {
  const submitter = sessions.submitterOf(session);
  const { mailFrom, rcptTo } = session.envelope;
  const { bytes, release } = await intake.take(stream, deps.config.maxBodyBytes);
  try {
    if (stream.sizeExceeded) return reply(552, `5.3.4 The message is larger than ${deps.config.maxBodyBytes} bytes`);
    if (bytes === null) return reply(452, "4.3.1 Too many messages at once, please try again later");
    if (submitter === null) return reply(530, "5.7.0 Log in first");
    const refused = sessions.refusedOf(session);
    // Many programs do not look at single replies: on the way to production the loss must be seen.
    if (refused > 0 && deps.config.dev && rcptTo.length >= SEND_LIMITS.smtpRecipients) return tooManyRecipients();
    await sessions.admit(submitter, session.remoteAddress);
    const captured = deps.config.dev && (await deps.relays.capturesMail(deps.db.read));
    const id = await store.submit(submitter, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
      captured,
      from: mailFrom ? mailFrom.address : "",
      recipients: listEach(rcptTo.map(({ address }) => parseRecipient(address, captured))),
      protocol: session.transmissionType,
      by: nameOf(deps.config),
      at: deps.clock.now(),
      refused,
    });
    if (refused > 0)
      deps.log.warn("a message went to fewer recipients than its program named", { mailId: id, taken: rcptTo.length, refused });
    return id;
  } finally {
    release();
  }
}

/** Returns a reply, and tells who listens of it; null is none. `of` has what the envelope of the session does not have yet. */
function tell<Reply extends Error | null>(
  { onSubmission }: SubmissionDeps,
  { envelope: { mailFrom, rcptTo } }: SMTPServerSession,
  answer: Reply,
  of: Partial<SubmissionReport> = {},
): Reply {
  if (answer === null || onSubmission === undefined) return answer;
  const to = rcptTo.map(({ address }) => address);
  onSubmission({ from: mailFrom ? mailFrom.address : "", to, size: null, ...of, reply: formatReply(answer) });
  return answer;
}

/** The mailboxes, each once. */
function listEach(boxes: readonly Mailbox[]): Mailbox[] {
  return [...new Map(boxes.map((box) => [box.key, box])).values()];
}

/**
 * Returns the error that refuses a recipient; null if it is accepted. smtp-server would refuse those beyond the limit without
 * telling us.
 */
function refuseRecipient(address: string, { envelope: { rcptTo } }: SMTPServerSession, captured: boolean): Error | null {
  const named = address.toLowerCase();
  if (rcptTo.length >= SEND_LIMITS.smtpRecipients && !rcptTo.some((one) => one.address.toLowerCase() === named)) return tooManyRecipients();
  try {
    parseRecipient(address, captured);
    return captured ? refuseByName(address) : null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return toReply(error);
  }
}

function tooManyRecipients(): Error {
  return reply(452, `4.5.3 A message goes to ${SEND_LIMITS.smtpRecipients} recipients at most: send another one to the others`);
}

/** A recipient of the envelope; captured mail may go to local hosts too. Throws ApiError validation_error. */
function parseRecipient(address: string, captured: boolean): Mailbox {
  try {
    return captured ? parseAnyMailbox(address) : parseMailbox(address);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new ApiError("validation_error", error.message);
  }
}

/** The name by which the server greets. */
export function nameOf({ publicUrl, inboundDomain }: Pick<SubmissionDeps["config"], "publicUrl" | "inboundDomain">): string {
  return inboundDomain ?? (publicUrl === null ? "localhost" : new URL(publicUrl).hostname);
}

interface Session {
  readonly ended: AbortController;
  submitter: Submitter | null;
  failures: number;
  /** Recipients of the current message that were refused. */
  refused: number;
  deadline: Timer | null;
}

/**
 * Logins by connection.
 *
 * | session is  | trigger                                    | becomes                                         |
 * | ----------- | ------------------------------------------ | ----------------------------------------------- |
 * | new         | a connection opens                         | unknown; anonymous where no login is needed     |
 * | unknown     | AUTH succeeds                              | logged in; its key is watched                   |
 * | unknown     | AUTH fails for the third time, a minute    | ended                                           |
 * | any         | STARTTLS                                   | unknown, and AUTH is offered                    |
 * | logged in   | its key is revoked                         | ended                                           |
 */
class Sessions {
  readonly #deps: SubmissionDeps;
  readonly #access: SubmissionAccess;
  readonly #options: SubmissionOptions;
  readonly #cut: (sessionId: string, why: string) => void;
  readonly #sessions = new WeakMap<SMTPServerSession, Session>();

  constructor(deps: SubmissionDeps, access: SubmissionAccess, options: SubmissionOptions, cut: (sessionId: string, why: string) => void) {
    this.#deps = deps;
    this.#access = access;
    this.#options = options;
    this.#cut = cut;
  }

  open(session: SMTPServerSession): void {
    const { real } = this.#deps.clock;
    const { loginMs = LOGIN_MS, tls } = this.#options;
    const deadline =
      this.#access.anonymous(session.remoteAddress) === null
        ? real.after(loginMs, () => this.#cut(session.id, "4.7.0 Too long without a login"))
        : null;
    this.#sessions.set(session, { ended: new AbortController(), submitter: null, failures: 0, refused: 0, deadline });
    if (!this.#mayLogIn(session)) session.disabledCommands = tls === null ? ["AUTH", "STARTTLS"] : ["AUTH"];
  }

  secured(session: SMTPServerSession): void {
    session.disabledCommands = [];
    const known = this.#sessions.get(session);
    if (known) known.submitter = null;
  }

  close(session: SMTPServerSession): void {
    const known = this.#sessions.get(session);
    known?.deadline?.cancel();
    known?.ended.abort();
  }

  /** Throws ApiError. */
  async logIn({ username = "", password }: SMTPServerAuthentication, session: SMTPServerSession): Promise<void> {
    const known = this.#find(session);
    const submitter = await this.#access.logIn({ user: username, password: password ?? "", address: session.remoteAddress });
    known.deadline?.cancel();
    known.submitter = submitter;
    const revoked = this.#access.watch(submitter, known.ended.signal);
    revoked?.addEventListener("abort", () => this.#cut(session.id, "4.7.0 This API key was revoked"), {
      once: true,
      signal: known.ended.signal,
    });
  }

  /** The reply to a login that failed; the last one of a connection ends it. */
  failed(session: SMTPServerSession, error: unknown): Error {
    const known = this.#find(session);
    known.failures += 1;
    const refused = this.#access.toApiError(error);
    if (refused.code === "rate_limited" || known.failures >= MAX_FAILED) return reply(421, "4.7.0 Too many failed logins");
    return refused.status >= 500 ? reply(454, "4.7.0 Not now, please try again later") : toReply(refused);
  }

  /** Returns the error for a session that may not send mail; null if it may. */
  refuseStranger(session: SMTPServerSession): Error | null {
    if (this.submitterOf(session) !== null) return null;
    if (this.#mayLogIn(session)) return reply(530, "5.7.0 Log in first: any user name, and an API key as password");
    const way = this.#options.tls === null ? "This server takes logins from its own machine only" : "Use STARTTLS first, then log in";
    return reply(530, `5.7.0 ${way}`);
  }

  submitterOf(session: SMTPServerSession): Submitter | null {
    return this.#find(session).submitter ?? this.#access.anonymous(session.remoteAddress);
  }

  beginMessage(session: SMTPServerSession): void {
    this.#find(session).refused = 0;
  }

  countRefused(session: SMTPServerSession): void {
    this.#find(session).refused += 1;
  }

  refusedOf(session: SMTPServerSession): number {
    return this.#find(session).refused;
  }

  /** Throws ApiError when the key was revoked meanwhile, has used up its rate, or the storage takes nothing. */
  async admit(submitter: Submitter, address: string): Promise<void> {
    await this.#access.admit(submitter, address);
  }

  /** The reply to what failed. */
  refuse(error: unknown): Error {
    return toReply(this.#access.toApiError(error));
  }

  #find(session: SMTPServerSession): Session {
    const known = this.#sessions.get(session);
    if (!known) throw new Error("The session was not opened.");
    return known;
  }

  /** A password may cross the network encrypted only, unless the operator allows it. */
  #mayLogIn({ secure, remoteAddress }: SMTPServerSession): boolean {
    return secure || this.#options.insecureAuth || isLoopbackAddress(remoteAddress);
  }
}
