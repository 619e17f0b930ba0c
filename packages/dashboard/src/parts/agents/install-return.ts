/** The fields of an install link. */
interface InstallLink {
  readonly redirect: string | null;
  readonly state: string | null;
}

/** True if a link leads back to an address that the listing has registered, letter by letter; a link without one leads nowhere. */
export function leadsBack({ redirect }: InstallLink, registered: readonly string[]): boolean {
  return redirect === null || (registered.includes(redirect) && redirect.startsWith("https://"));
}

/** The address to go to after an installation: the registered one, with the state as it came; null to stay. */
export function buildReturn({ redirect, state }: InstallLink, registered: readonly string[], activationId: string): string | null {
  if (redirect === null || !leadsBack({ redirect, state }, registered)) return null;
  const url = new URL(redirect);
  url.searchParams.set("activationId", activationId);
  if (state !== null) url.searchParams.set("state", state);
  return url.href;
}
