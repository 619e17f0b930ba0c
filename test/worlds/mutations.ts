import { FOLLOWING_MUTATIONS } from "./mutations/following.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { SENDING_MUTATIONS } from "./mutations/sending.ts";

/** The faults, of the kinds that people make: something left out, a flag not checked, a number rounded the wrong way. */
export const MUTATIONS: readonly Mutation[] = [...SENDING_MUTATIONS, ...FOLLOWING_MUTATIONS];
