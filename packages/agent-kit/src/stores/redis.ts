import type { Store } from "./store.ts";

/** A client of ioredis, or of node-redis (`redis`) after `connect()`. */
export type RedisClient = IoRedis | NodeRedis;

interface IoRedis {
  call(command: string, ...args: string[]): Promise<unknown>;
}

interface NodeRedis {
  sendCommand(args: string[]): Promise<unknown>;
}

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** Stands before every key. In braces by default, so that a cluster keeps them on one node. */
  prefix?: string;
}

// Above every character that a key may contain.
const LAST = "\u{10ffff}";

/** KEYS: the entry, the index. ARGV: the key, then `from`, `to` and the time to live; an empty text stands for null, a `=` before a value. */
const SWAP = `
local value = redis.call("GET", KEYS[1])
if (value and "=" .. value or "") ~= ARGV[2] then return 0 end
if ARGV[3] == "" then
  redis.call("DEL", KEYS[1])
  redis.call("ZREM", KEYS[2], ARGV[1])
elseif ARGV[4] == "" then
  redis.call("SET", KEYS[1], string.sub(ARGV[3], 2))
  redis.call("ZADD", KEYS[2], 0, ARGV[1])
else
  redis.call("SET", KEYS[1], string.sub(ARGV[3], 2), "PX", ARGV[4])
  redis.call("ZREM", KEYS[2], ARGV[1])
end
return 1`;

/**
 * A store in Redis 6 or later, for any number of processes. Entries survive what Redis survives: keys of activations arrive once, so
 * switch its append-only file on. Lasting keys are listed in a sorted set, so that nothing scans the database.
 */
export function redisStore(client: RedisClient, { prefix = "{agent-kit}:" }: RedisStoreOptions = {}): Store {
  const send = (...args: string[]): Promise<unknown> => {
    const [command = "", ...rest] = args;
    return "call" in client && typeof client.call === "function" ? client.call(command, ...rest) : (client as NodeRedis).sendCommand(args);
  };
  const index = `${prefix}index`;
  const nameOf = (key: string): string => `${prefix}entry:${key}`;
  const toArgument = (value: string | null): string => (value === null ? "" : `=${value}`);

  return {
    get: async (key) => {
      const value = await send("GET", nameOf(key));
      return value === null || value === undefined ? null : String(value);
    },
    swap: async (key, from, to, ttlMs) => {
      const ttl = ttlMs === undefined ? "" : String(Math.max(1, Math.ceil(ttlMs)));
      return Number(await send("EVAL", SWAP, "2", nameOf(key), index, key, toArgument(from), toArgument(to), ttl)) === 1;
    },
    list: async (prefixOfKeys) => {
      const keys = (await send("ZRANGEBYLEX", index, `[${prefixOfKeys}`, `(${prefixOfKeys}${LAST}`)) as unknown[];
      return keys.map(String);
    },
    now: async () => {
      const [seconds, microseconds] = (await send("TIME")) as unknown[];
      return Number(seconds) * 1000 + Number(microseconds) / 1000;
    },
  };
}
