import type { SMTPConnectionCustomAuthContext, SMTPConnectionCustomAuthResponse } from "nodemailer/lib/smtp-connection";
import type { TokenSource } from "./smtp-url.ts";

/**
 * Logs in with an access token (XOAUTH2), as Microsoft 365 and Google take it. A token that is refused is renewed once: it may have been
 * revoked, or the clocks differ. Throws with the server's reply, and with what the token server said.
 */
export async function logInWithToken(
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
