/** Requests in flight, for shutting down in order and for putting acceptance before delivery. */
export interface InFlightRequests {
  count: number;
  draining: boolean;
  /** When so many were last in flight that answering them comes before everything else; real ms. */
  crowdedAt: number;
}

/** Requests in flight that make a crowd. */
export const CROWDED_AT = 16;
