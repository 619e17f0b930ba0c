export {
  BackupDamaged,
  type BackupOptions,
  BackupRefused,
  type BackupReport,
  type RestoreOptions,
  type RestoreReport,
} from "./backup/report.ts";
export {
  type Config,
  ConfigError,
  DEFAULT_PORT,
  DEV_FLAGS,
  describeIgnoredVariables,
  type FlagValues,
  readConfig,
  SERVE_FLAGS,
  type ServeFlag,
} from "./config.ts";
export { StorageUnavailable } from "./db/errors.ts";
export { listDialectVariables } from "./dialects/environment.ts";
export { ListenError } from "./http/listen-error.ts";
export { createFolder } from "./lib/folder.ts";
export { jsonLog, type Log, silentLog } from "./lib/log.ts";
export { lintSources, type SourcesToLint } from "./lint-sources.ts";
export {
  createBackup,
  isKeyRotated,
  migrateToPostgres,
  moveFromPostgres,
  type RecoveryOptions,
  recoverOperatorKey,
  recoverOwnerKey,
  restoreBackup,
  rotateMasterKey,
} from "./maintenance.ts";
export { serveMcpOverStdio } from "./mcp-stdio.ts";
export { type CopiedTable, CopyError, type CopyOptions, type CopyProgress, CopyRefused, type CopyReport } from "./migrate/report.ts";
export { openDocs } from "./open-docs.ts";
export { type OpenRecording, serveRecording } from "./open-recording.ts";
export { type CoverageReport, type EndedRun, type LineOf, type Reached, RunRecorder, type RunSummary } from "./recording/recording.ts";
export { type RunningServer, serve } from "./serve.ts";
export { version } from "./version.ts";
