// How Vitest starts the browsers that Debian packages. None is downloaded.
import { playwright } from '@vitest/browser-playwright';
import { webdriverio } from '@vitest/browser-webdriverio';

const libraries = process.arch === 'arm64' ? '/usr/lib/aarch64-linux-gnu' : '/usr/lib/x86_64-linux-gnu';

/** What must be there for a browser's tests to run. */
export const executables = {
  chromium: '/usr/bin/chromium',
  firefox: '/usr/bin/firefox-esr',
  safari: `${libraries}/webkit2gtk-4.1/MiniBrowser`,
};

export const chromium = () =>
  playwright({ launchOptions: { executablePath: executables.chromium, args: ['--enable-unsafe-webgpu'] } });

// The channel makes Playwright speak WebDriver BiDi, which an unpatched Firefox understands.
export const firefox = () =>
  playwright({ launchOptions: { channel: 'moz-firefox', executablePath: executables.firefox } });

/** WebKitGTK's small browser, driven by a WebKitWebDriver that the test runner has started. */
export function safari() {
  const browser = {
    browserName: 'MiniBrowser',
    'webkitgtk:browserOptions': { binary: executables.safari, args: ['--automation'] },
  };
  return webdriverio({
    hostname: '127.0.0.1',
    port: Number(process.env.ID2VEC_WEBDRIVER_PORT ?? 4470),
    path: '/',
    capabilities: { 'wdio:enforceWebDriverClassic': true } as WebdriverIO.Capabilities,
    // WebdriverIO adds capabilities of other browsers, which WebKitWebDriver refuses as a whole.
    transformRequest(request) {
      if (typeof request.body === 'string' && request.body.includes('"capabilities"')) {
        request.body = JSON.stringify({ capabilities: { alwaysMatch: browser, firstMatch: [{}] } });
      }
      return request;
    },
  });
}
