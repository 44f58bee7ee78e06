/** Decides which of Slack's messages the app reads. Pure; what they lead to is in `listeners/messages.ts`. */

import type { AllMessageEvents } from '@slack/types';
import { lineText } from './text.ts';

/** A message to the app, as Slack reports it. */
export interface Incoming {
  readonly user?: string;
  readonly user_team?: string;
  readonly team?: string;
  readonly text?: string;
  readonly channel: string;
  readonly channel_type?: string;
  readonly ts: string;
  readonly thread_ts?: string;
  readonly subtype?: string;
  readonly bot_id?: string;
  readonly files?: readonly SharedFile[];
  readonly attachments?: readonly Attachment[];
}

interface SharedFile {
  readonly name?: string | null;
}

/** A forwarded message, or the preview of a link. */
interface Attachment {
  readonly is_share?: boolean;
  readonly text?: string;
  readonly author_name?: string;
  readonly files?: readonly SharedFile[];
}

/**
 * How a message is handled. `taken`: its text is read. `answered`: it comes from a person but cannot be read, so it gets a
 * sentence as a reply. `ignored`: nobody addresses the app with it.
 */
type Reception = 'taken' | 'answered' | 'ignored';

/** The kinds of messages in the types of Slack's packages. */
type TypedSubtype = NonNullable<AllMessageEvents['subtype']>;
/** Kinds that only Slack's documentation contains. Some are from earlier times. */
type OtherSubtype =
  | 'assistant_app_thread'
  | `bot_${'add' | 'remove'}`
  | `channel_convert_to_${'private' | 'public'}`
  | 'document_mention'
  | `file_${'comment' | 'mention'}`
  | `group_${'archive' | 'join' | 'leave' | 'name' | 'purpose' | 'topic' | 'unarchive'}`
  | 'huddle_thread'
  | `${'' | 'un'}pinned_item`
  | 'reminder_add'
  | 'reply_broadcast';

const RECEPTIONS: Readonly<Record<TypedSubtype | OtherSubtype, Reception>> = {
  file_share: 'taken',
  me_message: 'taken',
  thread_broadcast: 'taken',

  document_mention: 'answered',
  file_comment: 'answered',
  file_mention: 'answered',

  // An app wrote the message, perhaps for a person whom it names.
  bot_message: 'ignored',
  // A report about an earlier message. The app's own edits are reported in this way, too.
  message_changed: 'ignored',
  message_deleted: 'ignored',
  message_replied: 'ignored',
  reply_broadcast: 'ignored',
  // Slack reports people's actions in its own words.
  assistant_app_thread: 'ignored',
  bot_add: 'ignored',
  bot_remove: 'ignored',
  channel_archive: 'ignored',
  channel_convert_to_private: 'ignored',
  channel_convert_to_public: 'ignored',
  channel_join: 'ignored',
  channel_leave: 'ignored',
  channel_name: 'ignored',
  channel_posting_permissions: 'ignored',
  channel_purpose: 'ignored',
  channel_topic: 'ignored',
  channel_unarchive: 'ignored',
  ekm_access_denied: 'ignored',
  group_archive: 'ignored',
  group_join: 'ignored',
  group_leave: 'ignored',
  group_name: 'ignored',
  group_purpose: 'ignored',
  group_topic: 'ignored',
  group_unarchive: 'ignored',
  huddle_thread: 'ignored',
  pinned_item: 'ignored',
  reminder_add: 'ignored',
  unpinned_item: 'ignored',
};

/** Determines how a message is handled. Kinds that Slack adds later are ignored, because most kinds are reports. */
export function receptionOf({ subtype, bot_id: bot }: Incoming): Reception {
  if (bot !== undefined) return 'ignored';
  if (subtype === undefined) return 'taken';
  return Object.hasOwn(RECEPTIONS, subtype) ? RECEPTIONS[subtype as TypedSubtype] : 'ignored';
}

const FILES_NAMED = 5;
const NAME_MAX = 80;

/** The messages that a message forwards. */
export function forwardedIn({ attachments = [] }: Incoming): readonly Attachment[] {
  return attachments.filter(({ is_share: isShare }) => isShare === true);
}

/** The unreadable parts of a message, in words; undefined if everything can be read. */
export function unreadableOf(message: Incoming): string | undefined {
  const files = [message, ...forwardedIn(message)].flatMap((one) => one.files ?? []);
  const named = files
    .slice(0, FILES_NAMED)
    .map(({ name }) => (name ? `the file “${lineText(name, NAME_MAX)}”` : 'a file'));
  const more = files.length - named.length;
  if (more > 0) named.push(more === 1 ? 'and 1 more file' : `and ${more} more files`);
  return named.length === 0 ? undefined : named.join(', ');
}
