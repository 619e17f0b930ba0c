import { TLSSocket } from "node:tls";
import type { SMTPConnectionCustomAuthContext, SMTPConnectionCustomAuthResponse } from "nodemailer/lib/smtp-connection";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Clock } from "../lib/clock.ts";
import { SECOND } from "../lib/units.ts";
import type { Receipt } from "./mailer.ts";
import { deferred, failureReceipt, type SmtpFailure } from "./smtp-reply.ts";
import { type SmtpConnection, SmtpSession } from "./smtp-session.ts";
import type { SmtpTarget, TokenSource } from "./smtp-url.ts";

const DEFAULTS = { connectMs: 15 * SECOND, greetingMs: 30 * SECOND, socketMs: 300 * SECOND } as const;
// nodemailer has an XOAUTH2 of its own, which does not renew a token that is refused without a challenge.
const TOKEN_METHOD = "TOKEN";

/**
 * Connects, encrypts and logs in with nodemailer's client, unless that is cut. A failure is always `deferred`, because it says nothing
 * about a recipient. `greeted` is called before the login, with the version of TLS; null without encryption.
 */
export function openSession(
  target: SmtpTarget,
  time: Clock["real"],
  cut?: AbortSignal,
  greeted?: (tls: string | null) => void,
): Promise<SmtpSession | Receipt> {
  return new Promise((opened) => {
    const { auth } = target;
    const connection = new SMTPConnection({
      host: target.host,
      port: target.port,
      secure: target.implicitTls,
      ignoreTLS: target.tls === "off",
      requireTLS: target.tls === "required" && !target.implicitTls,
      opportunisticTLS: target.tls === "opportunistic",
      tls: { rejectUnauthorized: target.verify },
      name: target.name,
      connectionTimeout: target.connectMs ?? DEFAULTS.connectMs,
      dnsTimeout: target.connectMs ?? DEFAULTS.connectMs,
      greetingTimeout: target.greetingMs ?? DEFAULTS.greetingMs,
      socketTimeout: target.socketMs ?? DEFAULTS.socketMs,
      ...(auth !== null && "tokens" in auth && { customAuth: { [TOKEN_METHOD]: (context) => logInWithToken(context, auth) } }),
    }) as SmtpConnection;
    const resolve = (result: SmtpSession | Receipt): void => {
      cut?.removeEventListener("abort", abort);
      opened(result);
    };
    const fail = (failure: SmtpFailure): void => {
      resolve(failureReceipt(failure, "session"));
      connection.close();
    };
    const succeed = (): void => {
      connection.off("error", fail);
      resolve(new SmtpSession(connection, time));
    };
    const abort = (): void => fail({ message: "The mailer was closed." });
    if (cut?.aborted) return abort();
    cut?.addEventListener("abort", abort);
    connection.on("error", fail);
    connection.once("end", () => resolve(deferred("The mail server closed the connection.")));
    connection.connect((error) => {
      if (error) return fail(error);
      greeted?.(connection._socket instanceof TLSSocket ? connection._socket.getProtocol() : null);
      if (auth === null) return succeed();
      if (!connection.allowsAuth)
        return fail({ message: "The mail server does not offer to log in on this connection, but user and password are configured." });
      const login = "tokens" in auth ? { method: TOKEN_METHOD, user: auth.user } : { credentials: auth };
      connection.login(login, (refused) => (refused ? fail(refused) : succeed()));
    });
  });
}

/**
 * Logs in with an access token (XOAUTH2), as Microsoft 365 and Google take it. A token that is refused is renewed once: it may have been
 * revoked, or the clocks differ. Throws with the server's reply, and with what the token server said.
 */
async function logInWithToken(
  { sendCommand }: Pick<SMTPConnectionCustomAuthContext, "sendCommand">,
  { user, tokens }: { readonly user: string; readonly tokens: TokenSource },
): Promise<void> {
  const attempt = async (token: string): Promise<SMTPConnectionCustomAuthResponse> => {
    const reply = await sendCommand(`AUTH XOAUTH2 ${encode(user, token)}`);
    // The reason of a refusal comes as a challenge, whose answer is an empty line; only then comes the reply.
    return hasCode(reply, 334) ? sendCommand("") : reply;
  };
  const first = await tokens.get();
  let reply = await attempt(first);
  if (hasCode(reply, 535)) reply = await attempt(await tokens.get(first));
  if (!hasCode(reply, 235)) throw new Error("The mail server refused the access token");
}

function encode(user: string, token: string): string {
  return Buffer.from(`user=${user}\x01auth=Bearer ${token}\x01\x01`).toString("base64");
}

/** Its `status` is 0 for a reply of several lines, such as Google's refusal. */
function hasCode({ response }: SMTPConnectionCustomAuthResponse, code: number): boolean {
  return response.startsWith(String(code));
}
