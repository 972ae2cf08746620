/** A logger with pino's interface. Above the debug level, it receives only ids, names and times. */
export type ToolLog = {
  warn(fields: Record<string, unknown>, text: string): void;
  debug(fields: Record<string, unknown>, text: string): void;
};
