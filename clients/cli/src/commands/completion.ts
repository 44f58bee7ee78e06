import { Argument, type Command } from 'commander';
import { type CliContext, print } from '../context.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** `parley completion`: a script that completes commands and options in a shell. */
export function registerCompletion(program: Command, context: CliContext): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', `\nExample:\n  source <(${context.calledAs} completion bash)`)
    .action((shell: Shell) => print(context, SCRIPTS[shell](wordsOf(program))));
}

/** The words that may follow each command path. The path of the program itself is empty. */
type Words = ReadonlyMap<string, readonly string[]>;

function wordsOf(program: Command): Words {
  const words = new Map<string, readonly string[]>();
  const visit = (command: Command, path: readonly string[]): void => {
    const options = command.options.flatMap(({ long }) => long ?? []);
    words.set(path.join(' '), [...command.commands.map((one) => one.name()), ...options, '--help']);
    for (const one of command.commands) visit(one, [...path, one.name()]);
  };
  visit(program, []);
  return words;
}

const SCRIPTS: Readonly<Record<Shell, (words: Words) => string>> = {
  bash: bashScript,
  // zsh runs bash completions through an adapter.
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${bashScript(words)}`,
  fish: (words) =>
    [...words]
      .flatMap(([path, list]) => {
        const condition =
          path === '' ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${path.split(' ').at(-1)}`;
        return list.map((word) =>
          word.startsWith('--')
            ? `complete -c parley -n '${condition}' -l ${word.slice(2)}`
            : `complete -c parley -f -n '${condition}' -a ${word}`,
        );
      })
      .join('\n'),
};

function bashScript(words: Words): string {
  const cases = [...words].map(([path, list]) => `    '${path}') words='${list.join(' ')}' ;;`);
  return `_parley() {
  local path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) ;; *) case "$path $word" in ${patternOf(words)}) path="\${path:+$path }$word" ;; esac ;; esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _parley parley`;
}

/** Matches a path followed by one of its commands. A top-level path begins with a blank, as "$path $word" does. */
function patternOf(words: Words): string {
  const paths = [...words.keys()].filter((path) => path !== '');
  return paths.map((path) => (path.includes(' ') ? `'${path}'` : `' ${path}'`)).join('|');
}
