// As `engines` in package.json says: below it, the driver of the database crashes the process without a message.
const MINIMUM = [22, 19] as const;

/** Throws an error that names both versions if Node is too old. */
export function assertNodeVersion(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < MINIMUM[0] || (major === MINIMUM[0] && minor < MINIMUM[1]))
    throw new Error(`mailsvc needs Node ${MINIMUM.join(".")} or newer; this is ${version}.`);
}
