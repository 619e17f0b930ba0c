import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Each takes more than a minute, most of it waiting. On a fresh clone Vitest knows only how large files are, and would leave some of
// these to the end, where they run alone.
const SLOW = ["docs.test.ts", "newcomer.test.ts", "uploads-crash.test.ts", "site.test.ts", "marketplace-steps.test.ts", "packages.test.ts"];

/** Starts the slowest files first, so that no core is idle at the end. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const groupOf = ({ project }: TestSpecification) => project.config.sequence.groupOrder;
    const isSlow = ({ project, moduleId }: TestSpecification) => Number(project.name === "e2e" && SLOW.includes(basename(moduleId)));
    return (await super.sort(files)).sort((a, b) => groupOf(a) - groupOf(b) || isSlow(b) - isSlow(a));
  }
}
