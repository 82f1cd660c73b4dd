<?php
// Walks through the main job with the client that OpenAPI Generator made: walk.php DIRECTORY
require 'GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class) use ($argv): void {
    $file = $argv[1] . '/lib/' . str_replace('\\', '/', substr($class, strlen('OpenAPI\\Client\\'))) . '.php';
    if (str_starts_with($class, 'OpenAPI\\Client\\') && is_file($file)) require $file;
});
require __DIR__ . '/benefits.php';
use OpenAPI\Client\ApiException;
use OpenAPI\Client\Api\{BenefitsApi, UsersApi};
use OpenAPI\Client\Model\{BenefitsRequest, CoverRequest, CoveringBenefit, CreateUser, NewDependant, Prefill, Address, SwapRequest};

function must(bool $holds, string $what): void {
    if (!$holds) throw new Exception($what);
}

$config = OpenAPI\Client\Configuration::getDefaultConfiguration()
    ->setHost(getenv('BASE_URL'))
    ->setUsername(getenv('CLIENT_ID'))
    ->setPassword(getenv('CLIENT_SECRET'))
    ->setApiKey('x-api-key', getenv('API_KEY'));
$http = benefits($config);
$users = new UsersApi($http, $config);
$benefits = new BenefitsApi($http, $config);
$userid = 'php-' . time() . '-' . getmypid();
$person = new Prefill([
    'userid' => $userid, 'firstname' => 'Ada', 'lastname' => 'Rivera', 'email' => 'ada@example.com',
    'dob' => '1990-03-27', 'zipcode' => '33101', 'gender' => null,
    'address' => new Address(['state' => 'FL', 'addline2' => null]),
]);
// This generator gives an answer that is one string as it was sent, in JSON.
must(json_decode($users->prefillUser($person, $userid, 'v2')) === 'prefill saved', 'not saved');
try {
    $users->prefillUser($person, $userid, 'v2');
    must(false, 'a repeat must be refused');
} catch (ApiException $error) {
    must($error->getCode() === 409 && json_decode($error->getResponseBody())->code === 'user_exists', 'another refusal');
}
$request = new BenefitsRequest(['userid' => $userid, 'age' => 36, 'state' => 'FL', 'zipcode' => '33101']);
must(count($benefits->getBenefits($request)) > 0, 'nothing is listed');
$spouse = new NewDependant([
    'relationship' => 'spouse', 'firstname' => 'Grace', 'lastname' => 'Rivera', 'dob' => '1988-02-29',
    'benefits' => [new CoveringBenefit(['name' => 'dental'])],
]);
$wanted = new CreateUser(['userid' => $userid, 'offername' => 'starter', 'benefits' => ['dental'], 'dependants' => [$spouse]]);
$user = $users->createUser($wanted, "$userid-create");
must($user->getStatus() === 'active', 'not active');
$families = array_filter($user->getBenefits(), fn($one) => count($one->getDependants() ?? []) === 1);
must(count($families) === 1, 'no family');
$alone = new CoverRequest(['userid' => $userid, 'name' => 'dental', 'dependants' => [], 'previewonly' => true]);
$cover = $benefits->changeCover($alone);
must($cover->getAfter()->getCost()->getCents() < $cover->getBefore()->getCost()->getCents(), 'no other price');
$swap = $benefits->swapBenefits(new SwapRequest(['userid' => $userid, 'add' => ['telehealth'], 'remove' => ['dental']]));
must($swap->getAdd() === ['telehealth'], 'no swap');
must(count($users->cancelUser($userid, null, null, null, "$userid-cancel")->getBenefits()) > 0, 'no cancel');
echo "walked\n";
