import type { RunningServer } from "@mailsvc/server";

/** The variables by which a command, the SDK and programs written for other services find the dev server and its keys. */
export async function buildEnvironment({
  url,
  apiKey,
  operatorKey,
  profiles,
  smtpUrl,
}: Pick<RunningServer, "url" | "apiKey" | "operatorKey" | "profiles" | "smtpUrl">): Promise<Record<string, string>> {
  const { listDialectVariables } = await import("@mailsvc/server");
  return {
    ...listDialectVariables(url),
    MAILSVC_URL: url,
    ...(apiKey !== null && { MAILSVC_API_KEY: apiKey }),
    ...(operatorKey !== null && { MAILSVC_OPERATOR_KEY: operatorKey }),
    ...(smtpUrl !== null && toSmtpVariables(new URL(smtpUrl))),
    ...(profiles && { MAILSVC_BUILDER_API_KEY: profiles.builder.apiKey }),
  };
}

/** The variables that SMTP clients and frameworks are commonly configured with. */
function toSmtpVariables({ href, hostname, port }: URL): Record<string, string> {
  return { SMTP_URL: href, SMTP_HOST: hostname, SMTP_PORT: port };
}
