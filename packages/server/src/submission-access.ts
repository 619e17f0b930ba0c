import { contract } from "@mailsvc/sdk/contract";
import type { Deps } from "./deps.ts";
import { createKeyLookup } from "./features.ts";
import { assertNetwork, authorizeDeveloper, confirmDeveloper, type DeveloperKey, type KeyLookup } from "./http/auth.ts";
import { toApiError } from "./http/errors.ts";
import { limitDeveloper } from "./http/rate-limit.ts";
import type { Installation } from "./installation/access.ts";
import { ApiError } from "./lib/api-error.ts";
import { isLoopbackAddress } from "./lib/ip-network.ts";
import type { SubmissionAccess, Submitter } from "./submission/deps.ts";
import { ensureWorkspace } from "./workspaces/workspaces.ts";

/** Submission over SMTP is admitted as this endpoint is. */
const ENDPOINT = contract.emails.send;

/**
 * Admits mail over SMTP by API keys, as the API admits sends. In dev mode programs of this machine need none, nor do others while all
 * mail is captured: mail lands in the first workspace, or, with a user name such as `app+run7`, in a workspace of this name, which is
 * created.
 */
export function createSubmissionAccess(deps: Deps, { workspaceId }: Installation): SubmissionAccess {
  const { limiter, config, storage, ids, failedLogins } = deps;
  const keys = createKeyLookup(deps);
  const byKey = async (password: string, address: string): Promise<Submitter> => {
    const hash = keys.hash(password);
    const key = await getKey(keys, password, hash);
    assertNetwork(key, address);
    authorizeDeveloper(key, ENDPOINT);
    keys.noteUse(key.id);
    return { workspaceId: key.workspaceId, test: key.test, keyId: key.id, keyHash: hash, senders: key.senders };
  };
  // If mail can leave, a port that other machines reach would be an open relay.
  const isOpenTo = (address: string): boolean => config.dev && (isLoopbackAddress(address) || deps.relays.capturesAll);
  const byName = async (user: string): Promise<Submitter> => {
    const name = /\+([^@]+)(?:@.*)?$/.exec(user)?.[1];
    return toAnyone(name === undefined ? workspaceId : await ensureWorkspace(deps, name));
  };
  return {
    anonymous: (address) => (isOpenTo(address) ? toAnyone(workspaceId) : null),
    logIn: async ({ user, password, address }) => {
      if (isOpenTo(address) && keys.parseKind(password) !== "developer") return byName(user);
      try {
        return await byKey(password, address);
      } catch (error) {
        failedLogins.count(error, address);
        throw error;
      }
    },
    admit: async ({ keyHash, keyId }, address) => {
      if (storage.lowDisk !== null) throw new ApiError("storage_unavailable", storage.lowDisk, { headers: { "retry-after": "30" } });
      if (keyHash !== null) {
        authorizeDeveloper(await confirmDeveloper(keys, keyHash), ENDPOINT);
        keys.noteUse(keyId);
      }
      // A relay may have been added since the connection opened.
      else if (!isLoopbackAddress(address) && !(await deps.relays.capturesMail(deps.db.read)))
        throw new ApiError("unauthorized", "Mail can leave this server now, so other machines need an API key.", {
          hint: "Log in with any user name and an API key as password.",
        });
      await limitDeveloper(limiter, config.rates, keyId, ENDPOINT, []);
    },
    watch: ({ keyHash }, until) => (keyHash === null ? null : keys.watchKey(keyHash, until)),
    toApiError: (error) => toApiError(error, ENDPOINT, ids("req"), deps),
  };
}

/** Returns the submitter for a client without a key (dev mode). */
function toAnyone(workspaceId: string): Submitter {
  return { workspaceId, test: false, keyId: `smtp:${workspaceId}`, keyHash: null, senders: null };
}

async function getKey(keys: KeyLookup, password: string, hash: string): Promise<DeveloperKey> {
  if (keys.parseKind(password) === "developer") return confirmDeveloper(keys, hash);
  throw new ApiError("unauthorized", "The password is no API key. It may be cut off or mistyped.", {
    hint: "Log in with any user name and an API key as password.",
  });
}
