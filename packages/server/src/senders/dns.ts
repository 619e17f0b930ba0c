import { promises as dns } from "node:dns";

/** The port to the domain name system. */
export interface DomainRecords {
  /** The TXT records of a name, each joined to one text; empty when there are none. Throws when nobody answers. */
  txt(name: string): Promise<string[]>;
}

/** The system's resolver. */
export const systemDns: DomainRecords = {
  txt: async (name) => {
    try {
      return (await dns.resolveTxt(name)).map((chunks) => chunks.join(""));
    } catch (error) {
      if (["ENOTFOUND", "ENODATA"].includes((error as { code?: string }).code ?? "")) return [];
      throw error;
    }
  },
};
