/** The folders of the published packages, each after those it depends on. */
export const PUBLISHED = ["sdk", "server", "agent-kit", "cli", "create-mailsvc-agent"];
