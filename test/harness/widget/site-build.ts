/** What is called of clients/widget/build.mjs. */
export interface Build {
  readonly CARD_GZIP_MAX: number;
  readonly ENTRIES: Readonly<Record<string, string>>;
  bundle(name: string, outdir: string): Promise<Bundle>;
  bundleCallCard(outdir: string): Promise<Bundle>;
  faultsOf(code: string): string[];
  faultsOfBundle(bundle: Bundle): string[];
  buildGallery(outdir: string): Promise<void>;
}

export interface Bundle {
  readonly name: string;
  readonly gzip: number;
  readonly faults: readonly string[];
}

/** The build that ships the widget. */
export async function widgetBuild(): Promise<Build> {
  return (await import(new URL('../../../clients/widget/build.mjs', import.meta.url).href)) as Build;
}

/** Writes all files that are shipped. */
export async function buildWidget(folder: string): Promise<Bundle[]> {
  const { ENTRIES, bundle } = await widgetBuild();
  return Promise.all(Object.keys(ENTRIES).map((name) => bundle(name, folder)));
}
