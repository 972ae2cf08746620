/** The test kit, `nightshift/testing`: tools, roles and recorded conversations in memory, without services. */
export { TestKitError, type TestKitCode } from './error.ts';
export { matchers, type MatcherResult, type RoleMatchers } from './matchers.ts';
export type { StartedWork } from './memory/durable.ts';
export type { Answer, AnswerCall, Approve, Awaited, Decision, WaitingCall } from './memory/people.ts';
export type { ReportedEntry, ReportedProgress } from './memory/reports.ts';
export { replay, type Replay, type ReplayOptions } from './replay/replay.ts';
export type { ChildRun, RoleRun, RunCall, RunError, RunMessage, RunOutput } from './role-run.ts';
export { runRole, type RunFor, type RunRoleOptions } from './run-role.ts';
export { runTool, type RunToolOptions, type ToolRun, type ToolRunContext } from './run-tool.ts';
export {
  simulatedModel,
  type SimulatedAnswer,
  type SimulatedCall,
  type SimulatedFailure,
  type SimulatedModel,
  type SimulatedRequest,
  type SimulatedStep,
  type SimulatedUsage,
} from './simulated-model.ts';
export type { StandIn, StandIns } from './stand-ins.ts';
