import type { Relay } from "@mailsvc/sdk/contract";

/** What naming a relay needs. */
export interface RelayNames {
  readonly relays: {
    /** A relay that this process knows; null if it does not. */
    find(
      name: string,
    ): { readonly source: Relay["source"]; readonly settings: { readonly workspaceId?: string | null | undefined } } | null;
  };
}
