/** A logger of pino's shape. Above debug nothing is said but ids, names and times. */
export type ToolLog = {
  warn(fields: Record<string, unknown>, text: string): void;
  debug(fields: Record<string, unknown>, text: string): void;
};
