import { messageHtml, viewHtml } from './block-kit.ts';
import { htmlOf } from './mrkdwn.ts';
import type { SlackPicture } from './states.ts';

const STYLE = `
  * { box-sizing: border-box; }
  body { margin: 0; padding: 20px; background: #f4f4f5; color: #1d1c1d; font: 15px/1.46 "Liberation Sans", Arial, sans-serif; }
  .sheet { columns: 2; column-gap: 20px; }
  figure { break-inside: avoid; margin: 0 0 18px; }
  figcaption { font-size: 13px; color: #616061; margin: 0 0 4px 2px; }
  .message { position: relative; display: grid; grid-template-columns: 36px 1fr; gap: 10px; padding: 10px 14px; background: #fff; border: 1px solid #ddd; border-radius: 8px; }
  .only { grid-column: 1 / -1; font-size: 12px; color: #616061; }
  .avatar { width: 36px; height: 36px; border-radius: 6px; background: #4a154b; color: #fff; font-weight: bold; display: grid; place-items: center; }
  .body { min-width: 0; overflow-wrap: anywhere; }
  .name { font-weight: bold; }
  .app { font-size: 10px; font-weight: normal; color: #616061; background: #eee; padding: 1px 3px; border-radius: 2px; }
  h3 { font-size: 18px; margin: 6px 0; }
  .section { margin: 4px 0 8px; white-space: pre-wrap; }
  .rich { margin: 4px 0 8px; white-space: pre-wrap; }
  .item { display: grid; grid-template-columns: 26px 1fr; }
  .item > span { text-align: right; padding-right: 8px; color: #616061; }
  .bordered { border-left: 4px solid #ddd; padding-left: 8px; }
  blockquote { margin: 0; border-left: 4px solid #ddd; padding-left: 12px; }
  a { color: #1264a3; }
  hr { border: 0; border-top: 1px solid #ddd; }
  .context { font-size: 13px; color: #616061; margin: 6px 0; }
  .context b { color: #1d1c1d; }
  .actions { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; }
  .button { border: 1px solid #bbb; border-radius: 4px; padding: 5px 12px; font-weight: bold; font-size: 14px; background: #fff; }
  .button.primary { background: #007a5a; border-color: #007a5a; color: #fff; }
  .button.danger { background: #fff; border-color: #e01e5a; color: #e01e5a; }
  .mention { background: #fff4d6; color: #1264a3; border-radius: 3px; padding: 0 2px; }
  code { font-size: 13px; color: #c0235a; background: #f7f7f8; border: 1px solid #ddd; border-radius: 3px; padding: 1px 3px; }
  pre { font: 13px/1.5 "Liberation Mono", monospace; background: #f7f7f8; border: 1px solid #ddd; border-radius: 4px; padding: 8px; margin: 6px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
  .modal { background: #fff; border: 1px solid #ccc; border-radius: 8px; max-width: 520px; box-shadow: 0 2px 10px #0002; }
  .modal .title { font-weight: bold; font-size: 19px; padding: 14px 20px; border-bottom: 1px solid #eee; display: flex; justify-content: space-between; }
  .modal .body { padding: 12px 20px; }
  .modal .footer { padding: 12px 20px; border-top: 1px solid #eee; display: flex; gap: 10px; justify-content: flex-end; }
  .input { margin: 10px 0; }
  .optional, .placeholder, .mark { color: #767676; font-weight: normal; }
  .primary .mark { color: inherit; }
  .field { border: 1px solid #bbb; border-radius: 4px; padding: 6px 10px; margin: 4px 0; display: flex; justify-content: space-between; white-space: pre-wrap; }
  .field.tall { display: block; min-height: 66px; }
  .pair { display: grid; grid-template-columns: 1fr 1fr; gap: 8px; }
  .option { margin: 3px 0; }
  .error { color: #b3002d; font-size: 13px; margin: -4px 0 8px; }
`;

/** Pictures of messages and modals on one page, each with what it shows. */
export function pageOf(pictures: readonly SlackPicture[]): string {
  const figures = pictures.map(({ title, message, view, errors, isEphemeral = false }) => {
    const drawn =
      message === undefined ? viewHtml(view ?? {}, errors) : messageHtml(message, { isEphemeral });
    return `<figure><figcaption>${htmlOf(title)}</figcaption>${drawn}</figure>`;
  });
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style><div class="sheet">${figures.join('')}</div>`;
}
