import { safeText } from "../text/safe-text.ts";
import type { Session } from "../types.ts";
import { type ForwardResult, MAX_UNANSWERED } from "./forwarder.ts";
import type { Position } from "./position-file.ts";
import type { SigningSecret } from "./secret.ts";

/** Tells what happens: for people as lines, in a pipe as one JSON document for each. */
export class Report {
  readonly #session: Session;
  #isReady = false;
  #waitingFor: string | null = null;
  #forwarded = 0;
  #failed = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  get failed(): number {
    return this.#failed;
  }

  /** Events are forwarded from now on; `webhookId` names the webhook whose events they are. */
  async ready(urls: readonly string[], secret: SigningSecret, webhookId: string | null): Promise<void> {
    const { out, term } = this.#session;
    this.#isReady = true;
    if (out.json) return out.line({ kind: "ready", forwardTo: urls, webhook: webhookId, secret: secret.derived ? secret.value : null });
    const keys = this.#session.host.stdin.isTTY ? " r repeats the last event." : "";
    const source = webhookId === null ? "" : ` of ${safeText(webhookId)}`;
    out.note(`Forwarding events${source} to ${urls.map(safeText).join(", ")}.${keys} Ctrl-C ends.`);
    if (!secret.derived) return;
    out.note(`${term.err.dim("secret")}  ${secret.value}`);
    if (webhookId !== null)
      out.note(
        "The server does not reveal the webhook's secret. Pass it with --secret, and requests carry the same signatures as the real ones.",
      );
  }

  /** Events that happened since the last time this ran here; `total` may be a minimum. */
  async missed(total: number, since: Position, agent: string | undefined): Promise<void> {
    const { out, term } = this.#session;
    if (out.json) return out.line({ kind: "missed", total, since });
    const count = `${total} ${total === 1 ? "event" : "events"}`;
    const command = agent === undefined ? `mailsvc listen --from ${since}` : `mailsvc listen --agent ${safeText(agent)} --resume`;
    out.note(`${term.err.yellow("missed")} ${count} since the last time. To get ${total === 1 ? "it" : "them"}: ${command} …`);
  }

  async attempt({ event, url, attempt, status, ms, error }: ForwardResult): Promise<void> {
    const { out, term } = this.#session;
    this.#waitingFor = null;
    this.#forwarded += 1;
    if (error !== null) this.#failed += 1;
    const { id, type, sequence, at } = event;
    if (out.json) return out.line({ kind: "delivery", sequence, id, type, at, url, attempt, status, ms, error });
    const { out: style } = term;
    const number = sequence === null ? "" : ` ${style.dim(`#${sequence}`)}`;
    const outcome = error === null ? style.green(String(status)) : style.red(error);
    const repeat = attempt > 1 ? style.dim(`, attempt ${attempt}`) : "";
    await out.text(`${style.dim(at.slice(11, 19))}${number} ${type}  ${safeText(id)}  ${outcome} in ${ms} ms${repeat}\n`);
  }

  /** Nothing listens at a URL: said once until something does. */
  async waits(url: string): Promise<void> {
    if (this.#waitingFor === url) return;
    this.#waitingFor = url;
    const { out, term } = this.#session;
    if (out.json) return out.line({ kind: "waiting", url });
    out.note(`${term.err.yellow("waiting")} Nothing listens at ${safeText(url)}. Events wait, and go out when something does.`);
  }

  /** A webhook has taken an event and not answered: it is sent again. */
  async repeats({ event: { id, sequence, type }, url, attempt, error }: ForwardResult): Promise<void> {
    const { out, term } = this.#session;
    if (out.json) return out.line({ kind: "unanswered", sequence, id, type, url, attempt, error });
    const why = `${safeText(id)}: ${error ?? "no answer"}, attempt ${attempt} of ${MAX_UNANSWERED}`;
    out.note(`${term.err.yellow("again")} ${why}. It is sent again.`);
  }

  /** The connection to the server was lost and is made again; before `ready` there was none. */
  async lost(after: Position | null): Promise<void> {
    const { out, term } = this.#session;
    if (!this.#isReady) return out.note(`${term.err.yellow("waiting")} The server does not answer; trying again.`);
    if (out.json) return out.line({ kind: "reconnecting", after });
    out.note(
      `${term.err.yellow("lost")} the connection to the server; connecting again${after === null ? "" : `, to continue after ${typeof after === "number" ? `#${after}` : safeText(after)}`}.`,
    );
  }

  async ended(position: Position | null): Promise<void> {
    const { out } = this.#session;
    if (out.json) return out.line({ kind: "ended", forwarded: this.#forwarded, failed: this.#failed, position });
    out.note(`${this.#forwarded} forwarded, ${this.#failed} of them without success.`);
  }
}
