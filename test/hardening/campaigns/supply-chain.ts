import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { shippedPackages } from '#test/shipped-packages.ts';
import type { Campaign } from './campaign.ts';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
}

/** Licenses that allow use and redistribution without conditions on our own code. MPL-2.0 and CC-BY-4.0 apply to their own files. */
const KNOWN =
  'MIT|MIT-0|0BSD|Apache-2\\.0|BSD-[23]-Clause|BlueOak-1\\.0\\.0|ISC|CC0-1\\.0|CC-BY-4\\.0|MPL-2\\.0|PSF-2\\.0|Python-2\\.0|Unlicense|Zlib';
const LICENSES = new RegExp(`^\\(?(?:${KNOWN})(?: OR [\\w.-]+| AND (?:${KNOWN}))?\\)?$`);

/** Packages that name their license, MIT, in an old form that the lock file leaves out. */
const LICENSE_IN_OLD_FORM = ['node_modules/format'];

/** Packages of other platforms whose integrity the registry at hand does not serve; SECURITY.md names them. */
const WITHOUT_INTEGRITY = /^node_modules\/@dynoxide\//;

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

/** The names of packages with known vulnerabilities, where the registry supports an audit. */
const audited = (...options: string[]): readonly string[] | undefined => {
  const namesIn = (text: string) => {
    const { vulnerabilities } = JSON.parse(text || '{}') as { vulnerabilities?: Record<string, unknown> };
    return vulnerabilities && Object.keys(vulnerabilities);
  };
  try {
    return namesIn(execFileSync('npm', ['audit', ...options, '--json'], { encoding: 'utf8', stdio: 'pipe' }));
  } catch (error) {
    return namesIn((error as { stdout?: string }).stdout ?? '');
  }
};

/** The findings in what is deployed: the dependencies, and what the documentation site ships, which is built from development dependencies. */
const auditFindings = (): readonly string[] | undefined => {
  const ofSite = shippedPackages();
  const [deployed, all] = [audited('--omit', 'dev'), audited()];
  return deployed && all && [...deployed, ...all.filter((name) => ofSite.includes(name))];
};

/** What is installed: exact versions, locked and intact, with known licenses and no install script that was not reviewed. */
export const supplyChain: Campaign = {
  name: 'supply chain',
  async run({ report }) {
    const { dependencies, devDependencies, optionalDependencies, allowScripts } = readJson('package.json');
    const { packages } = readJson('package-lock.json') as { packages: Record<string, LockedPackage> };
    for (const [name, version] of Object.entries({
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
    })) {
      // An alias names the package: npm:typescript@7.0.2.
      const isExact = /^(?:npm:@?[\w./-]+@)?\d+\.\d+\.\d+$/.test(String(version));
      report.expect('supply chain: dependencies have exact versions', isExact, () => `${name} ${version}`);
    }
    for (const [path, locked] of Object.entries(packages)) {
      if (path === '') continue;
      const isIntact =
        locked.integrity !== undefined || locked.inBundle === true || WITHOUT_INTEGRITY.test(path);
      report.expect('supply chain: locked packages have an integrity', isIntact, () => path);
      report.expect(
        'supply chain: licenses are known',
        LICENSES.test(String(locked.license)) || LICENSE_IN_OLD_FORM.includes(path),
        () => `${path} ${locked.license}`,
      );
      const name = path.split('node_modules/').at(-1) ?? '';
      const isReviewed = locked.hasInstallScript !== true || name in allowScripts;
      report.expect('supply chain: install scripts are reviewed', isReviewed, () => path);
    }
    const sbom = JSON.parse(
      execFileSync('npm', ['run', '--silent', 'sbom'], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 2 ** 26,
      }),
    );
    const isComplete = Object.keys(dependencies).every((name) =>
      sbom.components.some((component: { name: string; group?: string }) =>
        [component.name, `${component.group}/${component.name}`].includes(name),
      ),
    );
    report.expect(
      'supply chain: the SBOM lists every dependency',
      isComplete,
      () => 'a dependency is missing',
    );
    const findings = auditFindings();
    if (findings === undefined) report.tried('supply chain: npm audit (the registry does not support it)', 0);
    else
      report.expect('supply chain: npm audit finds nothing', findings.length === 0, () =>
        findings.join(', '),
      );
  },
};
