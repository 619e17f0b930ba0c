import manifest from "../package.json" with { type: "json" };

/** The version of this package. */
export const version: string = manifest.version;

// Below it, the driver of the database crashes the process without a message.
const MINIMUM = manifest.engines.node.replace(">=", "");

/** Throws an error that names both versions if Node is too old. */
export function assertNodeVersion(version: string): void {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = MINIMUM.split(".").map(Number);
  if (major < leastMajor || (major === leastMajor && minor < leastMinor))
    throw new Error(`mailsvc needs Node ${MINIMUM} or newer; this is ${version}.`);
}
