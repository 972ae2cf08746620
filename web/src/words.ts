/**
 * All texts of the console. An area of `web/src` has a constant here. Its file has no side effects, and the bundler is
 * told so (`web/vite.config.ts`): the texts of a page are in the chunk of that page, although all pages import this file.
 */
export { actorWords } from './words/actors.ts';
export { answerWords } from './words/answers.ts';
export { apiKeysWords } from './words/api-keys.ts';
export { appWords, paletteWords } from './words/app.ts';
export { callLogWords } from './words/call-log.ts';
export { actionOn, commonWords } from './words/common.ts';
export { configWords } from './words/config-editor.ts';
export { diffWords } from './words/diff.ts';
export { importFileWords } from './words/import-file.ts';
export { contentWords } from './words/message-content.ts';
export { nameWords } from './words/names.ts';
export { accessWords } from './words/pages/access.ts';
export { auditWords } from './words/pages/audit.ts';
export { branchWords } from './words/pages/chat/branches.ts';
export { compactionWords } from './words/pages/chat/compactions.ts';
export { composerWords, queuedWords, stopWords } from './words/pages/chat/composer.ts';
export { contextMenuWords } from './words/pages/chat/context-menu.ts';
export { contextsWords } from './words/pages/chat/contexts.ts';
export { messageMenuWords } from './words/pages/chat/message-menu.ts';
export { messageListWords, messageWords, toolWords } from './words/pages/chat/messages.ts';
export { chatWords } from './words/pages/chat/page.ts';
export { contextSettingsWords } from './words/pages/chat/settings.ts';
export { inboxWords, type InboxKind } from './words/pages/inbox.ts';
export { jobWords } from './words/pages/job/page.ts';
export {
  spentWords,
  stretchWords,
  timelineWords,
  waitWords,
  type SpentOn,
  type StretchKind,
} from './words/pages/job/timeline.ts';
export { jobsWords } from './words/pages/jobs.ts';
export { mcpServerWords } from './words/pages/mcp-servers.ts';
export { operationsWords } from './words/pages/operations.ts';
export { overviewWords } from './words/pages/overview.ts';
export { schedulesWords } from './words/pages/schedules.ts';
export { searchWords } from './words/pages/search.ts';
export { settingsWords } from './words/pages/settings.ts';
export { tenantsWords } from './words/pages/tenants.ts';
export { toolCatalogueWords } from './words/pages/tool-catalogue.ts';
export { treeWords } from './words/pages/tree.ts';
export { webhooksWords } from './words/pages/webhooks.ts';
export { placeWords } from './words/places.ts';
export { statusWords, type Status } from './words/status.ts';
export { durationWords, uiWords, type SecretKind } from './words/ui.ts';
export { usageWords } from './words/usage.ts';
