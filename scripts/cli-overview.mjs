// Entries of `mailsvc --help`, generated so that it can be printed without loading the contract.
import { listOverview } from "../packages/cli/src/all-commands.ts";

/** The text of packages/cli/src/overview.generated.ts. */
export const cliOverview = async () => {
  // No command is run.
  const entries = await listOverview({ exit: 0, open: () => {} });
  return `// Generated from the commands by \`npm run generate\`.
import type { OverviewEntry } from "./all-commands.ts";

/** The commands that \`mailsvc --help\` lists. */
export const OVERVIEW: readonly OverviewEntry[] = [
${entries.map((entry) => `  ${JSON.stringify(entry)},`).join("\n")}
];
`;
};
