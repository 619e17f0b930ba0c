import { TLSSocket } from "node:tls";
import SMTPConnection from "nodemailer/lib/smtp-connection";
import type { Clock } from "../lib/clock.ts";
import { SECOND } from "../lib/units.ts";
import type { Receipt } from "./mailer.ts";
import { deferred, failureReceipt, type SmtpFailure } from "./smtp-reply.ts";
import { type SmtpConnection, SmtpSession } from "./smtp-session.ts";
import type { SmtpTarget } from "./smtp-url.ts";
import { logInWithToken } from "./xoauth2.ts";

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
