<?php

/** Loads the classes from Composer's vendor folder, or from Debian's packages where Composer was not run. */

declare(strict_types=1);

if (is_file(__DIR__ . '/../vendor/autoload.php')) {
    require __DIR__ . '/../vendor/autoload.php';

    return;
}

require '/usr/share/php/GuzzleHttp/autoload.php';

spl_autoload_register(static function (string $class): void {
    $folders = ['BuyerLinking\\Tests\\' => __DIR__ . '/', 'BuyerLinking\\' => __DIR__ . '/../src/'];
    foreach ($folders as $prefix => $folder) {
        $file = $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
        if (str_starts_with($class, $prefix) && is_file($file)) {
            require $file;

            return;
        }
    }
});
