import { type Endpoint, isOperatorCall } from "@mailsvc/sdk/contract";
import { ApiError, invalid, notFound } from "../lib/api-error.ts";
import type { Input } from "./call.ts";

/** Looks up workspaces for decisions of the operator. `features.ts` connects it, so that this module does not know workspaces. */
export interface WorkspaceLookup {
  /** The ids of the workspaces that such a decision concerns: at most `limit`, the oldest first. In dev mode only the first one counts. */
  listWorkspaces(limit: number): Promise<readonly string[]>;
  /** The workspace of an object on which the operator decides, which may be the workspace itself; null if there is none. */
  findWorkspaceOf(id: string): Promise<string | null>;
}

/** A caller whose right is asked for. */
interface Asker {
  /** Workspace of its key; null for the operator key, which belongs to no workspace. */
  readonly workspaceId: string | null;
  /** True if it has shown the operator key. */
  readonly hasShownKey: () => Promise<boolean>;
}

/**
 * Says who is the operator. While the server has one workspace, its keys are those of the operator; from the second one on, the operator
 * key is needed. Every decision that reaches beyond a workspace is asked for here.
 */
export class OperatorRights {
  readonly #workspaces: WorkspaceLookup;

  constructor(workspaces: WorkspaceLookup) {
    this.#workspaces = workspaces;
  }

  /** True if a caller is the operator. */
  async isOperator({ hasShownKey }: Pick<Asker, "hasShownKey">): Promise<boolean> {
    return (await this.#workspaces.listWorkspaces(2)).length < 2 || hasShownKey();
  }

  /**
   * The workspace in which a call acts. Throws ApiError forbidden when the call decides for others and the caller is not the operator,
   * or names another workspace; not_found or validation_error when the operator key does not tell which workspace is meant.
   */
  async admit(endpoint: Endpoint, input: Input, asker: Asker): Promise<string> {
    const named = typeof input["workspaceId"] === "string" ? input["workspaceId"] : null;
    const decides = isOperatorCall(endpoint, input);
    const own = asker.workspaceId;
    if (own !== null) {
      if ((decides || (named !== null && named !== own)) && !(await this.isOperator(asker))) throw refuse(endpoint);
      return named === null || named === own ? own : this.#find("workspace", named);
    }
    // The operator key is for decisions, and for nothing else that a key of the workspace may do.
    if (!decides)
      throw new ApiError("forbidden", "This is the operator key. It cannot be used for this call.", { hint: describe(endpoint) });
    if (typeof input["id"] === "string") return this.#find("object", input["id"]);
    if (named !== null) return this.#find("workspace", named);
    const [only, other] = await this.#workspaces.listWorkspaces(2);
    if (only !== undefined && other === undefined) return only;
    throw invalid("workspaceId", "required", "This server has several workspaces, and workspaceId says which one is meant.");
  }

  async #find(kind: string, id: string): Promise<string> {
    const found = await this.#workspaces.findWorkspaceOf(id);
    if (found === null) throw notFound(kind, id);
    return found;
  }
}

function refuse(endpoint: Endpoint): ApiError {
  return new ApiError("forbidden", "This server has several workspaces, so this needs the operator key.", {
    details: [
      { path: fieldOf(endpoint), code: "operator_only", message: "Use the operator key, which the first start of the server printed." },
    ],
    hint: 'On the command line: --api-key "$MAILSVC_OPERATOR_KEY". In the dashboard: Operate the server.',
  });
}

function describe(endpoint: Endpoint): string {
  const field = fieldOf(endpoint);
  return field === "" ? "Use a key of the workspace." : `Give ${field}, or use a key of the workspace.`;
}

function fieldOf({ operatorRight }: Endpoint): string {
  return typeof operatorRight === "object" ? operatorRight.when : "";
}
