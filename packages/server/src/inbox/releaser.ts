import { type contract, type HandlerOutput, parseMailbox } from "@mailsvc/sdk/contract";
import { ApiError, invalid } from "../lib/api-error.ts";
import type { Clock } from "../lib/clock.ts";
import type { Ids } from "../lib/ids.ts";
import { perMinute, TokenBuckets } from "../lib/rate.ts";
import { parseSmtpUrl } from "../mail/smtp-url.ts";
import { isAllowed, type ReleaseConfig } from "./release-config.ts";

interface ReleaserOptions {
  /** Null where nothing may be released. */
  readonly config: ReleaseConfig | null;
  /** The sender of released mail: a bare address or `Name <address>`. */
  readonly from: string;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Far more than a person reads, far less than a mistake in a script sends. */
const RATE = perMinute(30);

type Released = HandlerOutput<typeof contract.inbox.release>;

/**
 * Sends captured mail on to addresses that the operator allows. It answers when the mail server has taken responsibility or refused, so
 * what it acknowledges is stored there and nothing of it waits here.
 */
export class MailReleaser {
  readonly #options: ReleaserOptions;
  readonly #buckets: TokenBuckets;

  constructor(options: ReleaserOptions) {
    this.#options = options;
    this.#buckets = new TokenBuckets(options.clock.real.now);
  }

  /** Throws ApiError invalid_state, validation_error or rate_limited, before anything is sent. */
  async release(raw: Uint8Array, to: readonly string[]): Promise<Released> {
    const { config, from, clock } = this.#options;
    if (config === null)
      throw new ApiError("invalid_state", "This server sends no captured mail on.", {
        hint: "Start it with --release-relay smtp://… and --release-to '*@example.com'.",
      });
    to.forEach((address, i) => {
      if (!isAllowed(config, address)) throw invalid(`to[${i}]`, "not_allowed", `--release-to does not allow ${address}.`);
    });
    this.#takeTokens(to.length);
    const message = Buffer.concat([this.#resentHeaders(to), raw]);
    // With it comes nodemailer's client, which a start does without.
    const { SmtpPool } = await import("../mail/smtp-pool.ts");
    const pool = new SmtpPool(parseSmtpUrl(config.relay), clock.real);
    const answer: Released = { released: [], failed: [] };
    try {
      for (const address of to) {
        const receipt = await pool.send({ from: parseMailbox(from).address, to: address }, message);
        if ("error" in receipt) answer.failed.push({ to: address, message: receipt.error.message });
        else answer.released.push({ to: address, response: receipt.response });
      }
    } finally {
      await pool.close(0);
    }
    return answer;
  }

  #takeTokens(count: number): void {
    for (let i = 0; i < count; i += 1) {
      const { allowed, reset } = this.#buckets.take("release", RATE);
      if (!allowed)
        throw new ApiError("rate_limited", `Only ${RATE.burst} captured mails a minute are sent on.`, {
          headers: { "retry-after": `${reset}` },
        });
    }
  }

  /** The block in front of the message that says who sent it on (RFC 5322 3.6.6). The message itself stays as it is, signatures too. */
  #resentHeaders(to: readonly string[]): Buffer {
    const { from, clock, ids } = this.#options;
    const { address, domain } = parseMailbox(from);
    const date = new Date(clock.now()).toUTCString().replace("GMT", "+0000");
    // Addresses may have letters beyond ASCII, as in the message (RFC 6532).
    return Buffer.from(
      `Resent-Date: ${date}\r\nResent-From: <${address}>\r\nResent-To: ${to.map((one) => `<${one}>`).join(",\r\n ")}\r\nResent-Message-ID: <${ids("mail")}@${domain}>\r\n`,
    );
  }
}
