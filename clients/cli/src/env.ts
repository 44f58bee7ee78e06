/** The environment of the command. This is the only file of the command that reads `process.env`. */
export interface CliEnv {
  /** `PARLEY_URL`: where Parley listens. */
  readonly url: string | undefined;
  /** `PARLEY_TOKEN`: a person's token, or a service key. */
  readonly token: string | undefined;
  /** `PARLEY_JWT_SECRET`: the secret with which a development server's tokens are signed. */
  readonly jwtSecret: string | undefined;
  /** `REDIS_URL`: the Redis of `parley dev`. */
  readonly redisUrl: string | undefined;
  /** `PARLEY_HOME`, or `~/.config/parley`: where the command keeps its files. */
  readonly home: string | undefined;
  /** `XDG_CONFIG_HOME`, which with `HOME` gives the default of `home`. */
  readonly configHome: string | undefined;
  readonly userHome: string | undefined;
  /** `PARLEY_KEYRING=file` keeps secrets in an encrypted file, even if there is a keyring. */
  readonly keyring: string | undefined;
  /** True for `NO_COLOR` (no-color.org) and for `TERM=dumb`. */
  readonly refusesColour: boolean;
  /** False for `TERM=dumb`, on which nothing can be redrawn. */
  readonly canDraw: boolean;
  /** False for the Linux console, `TERM=linux`, which lacks many symbols. */
  readonly hasSymbols: boolean;
  /** `VISUAL` or `EDITOR`: the command that starts the person's text editor. */
  readonly editor: string | undefined;
  /**
   * The person's language from `LC_ALL`, `LC_MESSAGES` or `LANG`, such as `de-DE`; undefined for the locales `C` and `POSIX`.
   */
  readonly language: string | undefined;
  /** `PATH`: where a shell looks for programs. */
  readonly searchPath: string;
  /** All variables, for processes that the command starts. */
  readonly all: Readonly<Record<string, string | undefined>>;
}

/** Reads the environment. An empty variable counts as unset. */
export function readCliEnv(all: Readonly<Record<string, string | undefined>> = process.env): CliEnv {
  const given = (name: string) => all[name] || undefined;
  return {
    url: given('PARLEY_URL'),
    token: given('PARLEY_TOKEN'),
    jwtSecret: given('PARLEY_JWT_SECRET'),
    redisUrl: given('REDIS_URL'),
    home: given('PARLEY_HOME'),
    configHome: given('XDG_CONFIG_HOME'),
    userHome: given('HOME') ?? given('USERPROFILE'),
    keyring: given('PARLEY_KEYRING'),
    refusesColour: given('NO_COLOR') !== undefined || all.TERM === 'dumb',
    canDraw: all.TERM !== 'dumb',
    hasSymbols: all.TERM !== 'linux',
    editor: given('VISUAL') ?? given('EDITOR'),
    language: languageOf(given('LC_ALL') ?? given('LC_MESSAGES') ?? given('LANG') ?? ''),
    // Windows names the variable `Path`; there Node finds it by any spelling.
    searchPath: all.PATH ?? '',
    all,
  };
}

/** The language tag of a POSIX locale, for example `de-DE` of `de_DE.UTF-8`. */
function languageOf(locale: string): string | undefined {
  const [, language, region] = /^([a-z]{2,3})(?:_([A-Z]{2}))?(?:[.@]|$)/.exec(locale) ?? [];
  return region === undefined ? language : `${language}-${region}`;
}
