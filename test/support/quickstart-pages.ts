/** The pages that `quickstarts.test.ts` follows from an empty folder, each with what its reader must have seen. */
export const QUICKSTARTS: readonly (readonly [page: string, seen: RegExp])[] = [
  ["docs/index.md", /"status":"failed","to":"softbounced@simulator\.mailsvc\.test"/],
  ["docs/start/terminal.md", /delivered +ada@example\.com Weekly report/],
  ["docs/start/ci.md", /Tests +2 passed/],
  ["docs/start/agent.md", /(?=[\s\S]*my-agent active)[\s\S]*Hello .+, I am ready\./],
  ["docs/start/server.md", /"status":"ready"/],
];
