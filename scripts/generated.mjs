// The committed files that are generated, most of them from the contract: each file's path and its expected content.
import { buildAutomationSchema, ERRORS, NOUNS_BY_TOPIC, served } from "@mailsvc/sdk/contract";
import { buildOpenApi } from "../packages/server/src/http/openapi.ts";
import { agentTemplates, helloAgent, renderProgram } from "./agent-templates.mjs";
import answers from "./answers.json" with { type: "json" };
import { cliOverview } from "./cli-overview.mjs";
import { formatJson } from "./format-json.mjs";
import { kitContract, kitSamples } from "./kit-contract.mjs";
import { limitsPage } from "./limits.mjs";
import { lintRulesPage } from "./lint-rules.mjs";
import { manifests } from "./manifests.mjs";
import { openApiAnswers, shownAnswers } from "./openapi-answers.mjs";
import { listParity, parityPage } from "./parity.mjs";
import { recipientTexts } from "./recipient-texts.mjs";
import { reference } from "./reference.mjs";
import { scalingPage } from "./scaling.mjs";
import { sdkAnswers } from "./sdk-answers.mjs";
import { sdkEndpoints, sdkTypes } from "./sdk-types.mjs";
import { stepFields } from "./step-fields.mjs";
import { takenPaths } from "./taken-paths.mjs";

export const generated = async () => {
  const shown = shownAnswers(served, answers);
  const document = buildOpenApi(served, shown);
  return {
    ...manifests(),
    "openapi.json": formatJson(document),
    "packages/sdk/automation.schema.json": `${JSON.stringify(buildAutomationSchema(), null, 2)}\n`,
    ...(await sdkTypes()),
    "packages/sdk/src/endpoints.generated.ts": sdkEndpoints(),
    "packages/sdk/src/contract/taken-paths.generated.ts": takenPaths(served),
    "packages/sdk/src/testing/answers.generated.ts": sdkAnswers(),
    "packages/server/src/http/openapi-answers.generated.ts": openApiAnswers(shown),
    "packages/agent-kit/src/contract.generated.ts": kitContract(),
    "packages/agent-kit/src/testing/samples.generated.ts": kitSamples(),
    "packages/cli/src/agent-init/templates.generated.ts": agentTemplates(),
    "packages/cli/src/templates/render-program.generated.ts": renderProgram(),
    "packages/dashboard/src/parts/automations/step-fields.generated.ts": stepFields(),
    "packages/dashboard/src/parts/audience/recipient-texts.generated.ts": recipientTexts(),
    "packages/cli/src/overview.generated.ts": await cliOverview(),
    ...helloAgent(),
    "docs/scaling.md": scalingPage(),
    "docs/reference/parity.md": parityPage(listParity(document, { served, answers })),
    ...reference(document, { served, topics: NOUNS_BY_TOPIC, errors: ERRORS, limits: limitsPage(), lintRules: lintRulesPage() }),
  };
};
