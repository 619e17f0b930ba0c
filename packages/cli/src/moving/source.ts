import type { SUPPRESSION_REASONS } from "@mailsvc/sdk/contract";

/** Consent of a person as the former service knows it. `refused` never becomes mailable; `unknown` does not either until the person agrees here. */
export type Consent = "agreed" | "refused" | "unknown";

/** A list of the former service. */
export interface SourceList {
  /** Its identity there. */
  readonly key: string;
  readonly name: string;
  readonly description: string | null;
  /** True if its members see it there. */
  readonly public: boolean;
}

/** An address that must not get mail. */
export interface SourceSuppression {
  /** Its place in the source, for the report. */
  readonly at: string;
  readonly email: string;
  readonly reason: (typeof SUPPRESSION_REASONS)[number];
  readonly note?: string;
}

/** A person of the former service. */
export interface SourcePerson {
  readonly at: string;
  readonly email: string;
  readonly consent: Consent;
  /** Fields of a contact, without address and status. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The reason for which no mail may be sent at all; null without one. */
  readonly suppression: Omit<SourceSuppression, "at" | "email"> | null;
  /** Keys of the lists whose mail the person gets, and of those that the person has left. */
  readonly joins: readonly string[];
  readonly left: readonly string[];
  /** Reason for which the row cannot be read; null if it can. */
  readonly fault: string | null;
}

/** A template of the former service, in the syntax of mailsvc. */
export interface SourceTemplate {
  readonly at: string;
  readonly slug: string;
  readonly name: string;
  readonly type: "transactional" | "marketing" | "layout";
  readonly fields: Readonly<Record<string, unknown>>;
  /** The part that cannot be converted; null if all can. */
  readonly obstacle: string | null;
}

/** A former service, opened for reading. Each part is read once, in this order. All throw CliError. */
export interface MovingSource {
  /** Its name and place, for the report. */
  readonly title: string;
  lists(): Promise<readonly SourceList[]>;
  suppressions(): AsyncIterable<readonly SourceSuppression[]>;
  people(): AsyncIterable<readonly SourcePerson[]>;
  templates(): AsyncIterable<SourceTemplate>;
  /** Remarks about what was read, for the report. */
  remarks(): readonly string[];
}
