import type { RunningServer } from "@mailsvc/server";

/** The variables by which a command, the SDK and programs written for other services find the dev server and its keys. */
export function buildEnvironment({
  url,
  apiKey,
  operatorKey,
  profiles,
}: Pick<RunningServer, "url" | "apiKey" | "operatorKey" | "profiles">): Record<string, string> {
  return {
    MAILSVC_URL: url,
    ...(apiKey !== null && { MAILSVC_API_KEY: apiKey }),
    ...(operatorKey !== null && { MAILSVC_OPERATOR_KEY: operatorKey }),
    ...(profiles && { MAILSVC_BUILDER_API_KEY: profiles.builder.apiKey }),
  };
}
