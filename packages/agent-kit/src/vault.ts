import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import { UsageError } from "./errors.ts";
import { randomData } from "./runtime.ts";
import { type Store, update } from "./stores/store.ts";

/** The keys of an agent's activations, encrypted. */
export interface Vault {
  /** Stores the key of an activation. When the promise resolves it is as durable as the store. */
  save(activationId: string, apiKey: string): Promise<void>;
  /** The key of an activation; null when there is none. Throws when it was encrypted with a master key that is no longer given. */
  load(activationId: string): Promise<string | null>;
  /** Forgets the key of an activation. */
  remove(activationId: string): Promise<void>;
  /** Encrypts every key with the first master key; afterwards the others can be dropped. Returns how many it encrypted again. */
  rotate(): Promise<number>;
}

/** Options of `createVault`. */
export interface VaultOptions {
  store: Store;
  /** 32 bytes as base64 or hex, for example of `openssl rand -base64 32`; or several, of which the first one encrypts. */
  masterKey: string | readonly string[];
}

interface MasterKey {
  /** The beginning of the key's SHA-256, which names it in what it encrypted. */
  readonly id: string;
  readonly bytes: Buffer;
}

const PREFIX = "key/";

/**
 * A vault: one entry for each activation, encrypted with AES-256-GCM under a random nonce. The id of the activation is authenticated
 * with it, so that an entry cannot be moved to another activation. Throws UsageError if a master key has not 32 bytes.
 */
export function createVault({ store, masterKey }: VaultOptions): Vault {
  const keys = (typeof masterKey === "string" ? [masterKey] : masterKey).map(readMasterKey);
  const [first] = keys;
  if (first === undefined) throw new UsageError("masterKey is empty: there is nothing to encrypt with.");
  const nameOf = (activationId: string): string => PREFIX + activationId;
  const open = (activationId: string, sealed: string): string => unseal(keys, activationId, sealed);

  return {
    save: (activationId, apiKey) =>
      update(store, nameOf(activationId), (sealed) =>
        sealed !== null && isReadable(keys, sealed) && open(activationId, sealed) === apiKey
          ? undefined
          : { to: seal(first, activationId, apiKey) },
      ),
    load: async (activationId) => {
      const sealed = await store.get(nameOf(activationId));
      return sealed === null ? null : open(activationId, sealed);
    },
    remove: (activationId) => update(store, nameOf(activationId), () => ({ to: null })),
    rotate: async () => {
      let count = 0;
      for (const name of await store.list(PREFIX)) {
        const activationId = name.slice(PREFIX.length);
        await update(store, name, (sealed) => {
          if (sealed === null || sealed.split(".")[1] === first.id) return undefined;
          count += 1;
          return { to: seal(first, activationId, open(activationId, sealed)) };
        });
      }
      return count;
    },
  };
}

function readMasterKey(text: string): MasterKey {
  const bytes = Buffer.from(text.trim(), /^[0-9a-f]{64}$/i.test(text.trim()) ? "hex" : "base64");
  if (bytes.length !== 32) throw new UsageError("masterKey must be 32 bytes as base64 or hex. Make one: openssl rand -base64 32");
  return { id: createHash("sha256").update(bytes).digest("hex").slice(0, 8), bytes };
}

function seal({ id, bytes }: MasterKey, activationId: string, apiKey: string): string {
  const nonce = randomData(12);
  const cipher = createCipheriv("aes-256-gcm", bytes, nonce).setAAD(Buffer.from(activationId));
  const sealed = Buffer.concat([cipher.update(apiKey, "utf8"), cipher.final()]);
  return ["v1", id, ...[nonce, sealed, cipher.getAuthTag()].map((part) => Buffer.from(part).toString("base64url"))].join(".");
}

function isReadable(keys: readonly MasterKey[], sealed: string): boolean {
  return keys.some(({ id }) => id === sealed.split(".")[1]);
}

function unseal(keys: readonly MasterKey[], activationId: string, sealed: string): string {
  const [version, id, ...parts] = sealed.split(".");
  const key = keys.find((one) => one.id === id);
  const [nonce, text, tag] = parts.map((part) => Buffer.from(part, "base64url"));
  if (version !== "v1" || !nonce || !text || !tag) throw new Error(`The vault's entry of ${activationId} is damaged.`);
  if (!key) throw new UsageError(`The key of ${activationId} was encrypted with another master key (${id}). Add it to masterKey.`);
  const decipher = createDecipheriv("aes-256-gcm", key.bytes, nonce).setAAD(Buffer.from(activationId)).setAuthTag(tag);
  return decipher.update(text, undefined, "utf8") + decipher.final("utf8");
}
