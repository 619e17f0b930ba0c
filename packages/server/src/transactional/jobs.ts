/** Kinds of jobs of this feature. */
export const DELIVER_JOB = "email.deliver";
export const REACT_JOB = "email.react";
